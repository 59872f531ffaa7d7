# Everything but `conformance` needs Go alone. `make test` runs all tests; those against real servers are skipped until
# `make conformance` has installed the servers (it needs npm), and the last line says so.

BIN      = bin/mcp-sidecar$(shell go env GOEXE)
REAL     = conformance/real
FUZZTIME = 30s

.PHONY: build demo test check generate bench fuzz conformance cover

build:
	CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o $(BIN) ./cmd/mcp-sidecar

demo: build
	$(BIN) demo

test:
	go test ./...
	@test -d $(REAL)/node_modules || echo "skipped: the tests against real MCP servers, which need npm; make conformance runs them"

check:
	@unformatted=$$(find . -name node_modules -prune -o -name '*.go' -exec gofmt -l {} +); \
	if [ -n "$$unformatted" ]; then echo "gofmt: not formatted:"; echo "$$unformatted"; exit 1; fi
	go vet ./...
	go run ./schema/gen -check
	go test -race ./...

generate:
	go run ./schema/gen

bench: build
	go run ./conformance/bench

# Every fuzz target in turn, each for FUZZTIME.
fuzz:
	@set -e; \
	for pkg in $$(go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./...); do \
		listed=$$(go test -list '^Fuzz' $$pkg); \
		for target in $$(echo "$$listed" | sed -n '/^Fuzz/p'); do \
			echo "== $$pkg $$target"; \
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 5x $$pkg; \
		done; \
	done

# The scripts, the real servers and the official client suite; here a missing server is a failure, not a skip.
conformance: $(REAL)/node_modules/.package-lock.json
	MCP_SIDECAR_REQUIRE_NODE=1 go test -count=1 ./conformance/...

$(REAL)/node_modules/.package-lock.json: $(REAL)/package-lock.json
	cd $(REAL) && npm ci --ignore-scripts --loglevel=error

cover:
	go test -coverpkg=./... -coverprofile=cover.out ./...
	go tool cover -func=cover.out | tail -n 1
