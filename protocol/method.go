package protocol

import (
	"context"
	"reflect"
	"runtime"
	"strings"
)

// Side is who sends a message.
type Side string

// The two ends of the connection.
const (
	FromEditor  Side = "editor"
	FromSidecar Side = "sidecar"
)

// Order says where a method of the sidecar runs.
type Order int

const (
	// Concurrent methods run on a goroutine of their own: they may wait.
	Concurrent Order = iota
	// InOrder methods run on the reader, in order of arrival, and touch
	// memory only: the next line is not looked at before they are done.
	InOrder
	// Admitting methods run on a goroutine of their own, but the next line is
	// not looked at before they have called Admitted or are done: what follows
	// may already name what they make.
	Admitting
)

type admission struct{}

// WithAdmission returns a context whose Admitted calls f, for whoever runs an
// Admitting method. f must bear being called more than once.
func WithAdmission(ctx context.Context, f func()) context.Context {
	return context.WithValue(ctx, admission{}, f)
}

// Admitted says that an Admitting method has made what the lines after it may
// name.
func Admitted(ctx context.Context) {
	if f, ok := ctx.Value(admission{}).(func()); ok {
		f()
	}
}

// A Method is one row of the table. Rows are made by the constructors below
// from typed functions and values, so that a row can't disagree with its
// types.
type Method struct {
	Name         string
	From         Side
	Notification bool // no reply
	// Answer: the request answers a question, and so may come after shutdown, as
	// the response to a request may.
	Answer bool
	Order  Order
	// Params and Result are the wire types (struct types, or named raw
	// types). Result is nil for notifications and where the reply is null.
	Params, Result reflect.Type
	// GoName is the name of the method of Sidecar that serves this row, or ""
	// for messages that the sidecar sends and those the wire itself serves.
	GoName string

	invoke func(context.Context, Sidecar, any) (any, error)
}

// NewParams returns a pointer to a zero value of the row's params type.
func (m *Method) NewParams() any { return reflect.New(m.Params).Interface() }

// Invoke calls the method on s. params is what NewParams returned, filled in.
// The result is nil where the reply is null. It panics on a row that is not
// served by a Sidecar.
func (m *Method) Invoke(ctx context.Context, s Sidecar, params any) (any, error) {
	return m.invoke(ctx, s, params)
}

// Served reports whether a Sidecar serves this row.
func (m *Method) Served() bool { return m.invoke != nil }

// A Notifier takes notifications to the editor. It is safe for concurrent use.
type Notifier interface {
	// Notify queues a notification. It never blocks.
	Notify(method string, params any)
}

// An Editor is how the sidecar reaches the editor. It is safe for concurrent
// use.
type Editor interface {
	Notifier
	// Call sends a request and decodes the reply into result. When ctx ends
	// first the editor is told ($/cancelRequest) and ctx's cause returned. id
	// hears the request's id just before it is sent, and nothing when it can't
	// be sent any more; it must not wait, and may be nil.
	Call(ctx context.Context, method string, params, result any, id func(RequestID)) error
	// Done is closed when no word of the editor can come any more. Calls that
	// are open fail then.
	Done() <-chan struct{}
}

func request[P, R any](name string, order Order, f func(Sidecar, context.Context, *P) (*R, error)) Method {
	return Method{
		Name: name, From: FromEditor, Order: order,
		Params: reflect.TypeFor[P](), Result: reflect.TypeFor[R](), GoName: methodName(f),
		invoke: func(ctx context.Context, s Sidecar, params any) (any, error) {
			r, err := f(s, ctx, params.(*P))
			if err != nil || r == nil {
				return nil, err
			}
			return r, nil
		},
	}
}

// answer is a request that answers a question.
func answer[P, R any](name string, order Order, f func(Sidecar, context.Context, *P) (*R, error)) Method {
	m := request(name, order, f)
	m.Answer = true
	return m
}

// command is a request whose reply is null.
func command[P any](name string, order Order, f func(Sidecar, context.Context, *P) error) Method {
	return Method{
		Name: name, From: FromEditor, Order: order, Params: reflect.TypeFor[P](), GoName: methodName(f),
		invoke: func(ctx context.Context, s Sidecar, params any) (any, error) {
			return nil, f(s, ctx, params.(*P))
		},
	}
}

// signal is a notification from the editor that the wire itself serves.
func signal[P any](name string) Method {
	return Method{Name: name, From: FromEditor, Notification: true, Order: InOrder, Params: reflect.TypeFor[P]()}
}

// An Ask is a request that the sidecar sends to the editor.
type Ask[P, R any] struct{ Method }

func ask[P, R any](name string) Ask[P, R] {
	return Ask[P, R]{Method{Name: name, From: FromSidecar, Params: reflect.TypeFor[P](), Result: reflect.TypeFor[R]()}}
}

// Send asks the editor and waits for its answer; see Editor.Call.
func (a Ask[P, R]) Send(ctx context.Context, e Editor, params *P, id func(RequestID)) (*R, error) {
	r := new(R)
	if err := e.Call(ctx, a.Name, params, r, id); err != nil {
		return nil, err
	}
	return r, nil
}

// A Tell is a notification that the sidecar sends to the editor.
type Tell[P any] struct{ Method }

func tell[P any](name string) Tell[P] {
	return Tell[P]{Method{Name: name, From: FromSidecar, Notification: true, Params: reflect.TypeFor[P]()}}
}

// Send queues the notification; see Notifier.
func (t Tell[P]) Send(n Notifier, params *P) { n.Notify(t.Name, params) }

func methodName(f any) string {
	full := runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name()
	return full[strings.LastIndexByte(full, '.')+1:]
}
