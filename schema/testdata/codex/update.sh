#!/bin/sh
# Writes the files of this directory again from Codex's own schema generator. Needs node and npx, and the npm registry for the
# first run (the package is about 400 MB). The same version gives the same bytes.
set -eu

version=0.171.0

here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# A home of its own: the generator is a program that would otherwise read the user's settings.
mkdir "$scratch/home" "$scratch/schema"
CODEX_HOME="$scratch/home" npx --yes "@openai/codex@$version" app-server generate-json-schema --out "$scratch/schema" </dev/null
node "$here/prune.mjs" "$scratch/schema" "$here"
