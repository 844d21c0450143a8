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

/* Whether this thread's C stack is nearly used up. */
int pydynamo_stack_is_low(void);

#endif
