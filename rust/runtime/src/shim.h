/* What the C shims offer to the Rust side: only what Rust cannot express without knowing an interpreter's struct
 * layouts. Mirrored by src/shim.rs. */
#ifndef PYDYNAMO_SHIM_H
#define PYDYNAMO_SHIM_H
#include <Python.h>

typedef struct {
    int32_t argcount;        /* positional parameters, positional-only ones included */
    int32_t posonlyargcount;
    int32_t kwonlyargcount;
    int32_t flags;           /* co_flags */
    int32_t nlocals;
    int32_t nfreevars;
} pydynamo_code_shape;

/* Fills `shape`; `code` must be a code object. */
void pydynamo_code_shape_of(PyObject *code, pydynamo_code_shape *shape);
/* New references (or NULL with an exception set) to co_varnames and co_freevars. */
PyObject *pydynamo_code_varnames(PyObject *code);
PyObject *pydynamo_code_freevars(PyObject *code);
/* Whether the weak reference `ref` refers to `obj` and is not dead. */
int pydynamo_weakref_is(PyObject *ref, PyObject *obj);
/* Borrowed `__dict__` of an object, or NULL without an exception when it has none (yet). */
PyObject *pydynamo_instance_dict(PyObject *obj);
/* Borrowed contents of a cell, NULL when it is unbound. */
PyObject *pydynamo_cell_get(PyObject *cell);
/* Whether instances of the type can be referenced weakly. */
int pydynamo_type_has_weakrefs(PyTypeObject *type);
/* Bound methods: a check, and borrowed references to their two halves. */
int pydynamo_is_method(PyObject *object);
PyObject *pydynamo_method_function(PyObject *method);
PyObject *pydynamo_method_self(PyObject *method);
PyObject *pydynamo_method_new(PyObject *function, PyObject *self); /* new reference */

/* Whether this thread's C stack is nearly used up: 1 or 0; -1 where that cannot be known. */
int pydynamo_stack_is_low(void);
/* Whether a debugger watches: a trace function of this thread, or a tool of sys.monitoring that is no profiler. */
int pydynamo_is_watched(void);
/* PyObject_Vectorcall bounded by the C stack: RecursionError when it is nearly used up. Where the stack is known, the call
 * is not counted as C recursion, which 3.12 and 3.13 limit by a small number of nested calls. */
PyObject *pydynamo_bounded_vectorcall(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *kwnames);

/* ---- the eval-frame hook ---- */

/* Decides about a frame that is about to start: a new reference to the code to run instead, or NULL: with an exception
 * set the call fails with it, without one the frame runs as it is. `args` are borrowed, one for each argument slot. */
typedef PyObject *(*pydynamo_decide)(PyObject *code, PyObject *function, PyObject **args, int nargs);
/* Calls `code` as `function` would be called with these argument slots. */
typedef PyObject *(*pydynamo_rebuild)(PyObject *code, PyObject *function, PyObject **args, int nargs);
/* Sets the exception for a replacement that cannot run in the frame. */
typedef void (*pydynamo_report_mismatch)(PyObject *code, PyObject *replacement, const char *why);
typedef struct {
    pydynamo_decide decide;
    pydynamo_rebuild rebuild;
    pydynamo_report_mismatch report_mismatch;
} pydynamo_hook_calls;

/* What the self-test knows about the next frame. */
typedef struct {
    PyObject *code, *function, *globals;
    PyObject **args;
    int nargs;
} pydynamo_probe;

/* Why there is no hook in this build or process; NULL if there can be one. */
const char *pydynamo_hook_unavailable(void);
/* Once, before any region: `retired` is code without parameters or free variables that returns None. */
void pydynamo_hook_configure(const pydynamo_hook_calls *calls, PyObject *retired);
/* Frames of a thread are offered to `decide` while it has an open region and has not suspended that. The hook is set in
 * the interpreter while any region of any thread is open. Both pairs nest; a region is closed by the thread that opened it. */
void pydynamo_hook_open_region(void);
void pydynamo_hook_close_region(void);
void pydynamo_hook_suspend(void);
void pydynamo_hook_resume(void);
/* The next frame of this thread that runs `code` is not offered (where frames are offered at all). */
void pydynamo_hook_skip_next(PyObject *code);
/* How many frames were retargeted in place, and how many run as new calls, since the process started. */
void pydynamo_hook_statistics(Py_ssize_t *retargeted, Py_ssize_t *rebuilt);
/* Compares the next frame of this thread with what is known about it; the result is 1 (all agrees), -1, or 0 (no frame). */
void pydynamo_hook_set_probe(const pydynamo_probe *probe);
int pydynamo_hook_probe_result(void);

#endif
