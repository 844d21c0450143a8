/* Reads fields of CPython objects whose layouts are public to C but differ between versions. */
#include "shim.h"
#include <stddef.h>

void pydynamo_code_shape_of(PyObject *op, pydynamo_code_shape *shape)
{
    PyCodeObject *code = (PyCodeObject *)op;
    shape->argcount = code->co_argcount;
    shape->posonlyargcount = code->co_posonlyargcount;
    shape->kwonlyargcount = code->co_kwonlyargcount;
    shape->flags = code->co_flags;
    shape->nlocals = code->co_nlocals;
    shape->nfreevars = code->co_nfreevars;
}

PyObject *pydynamo_code_varnames(PyObject *code) { return PyCode_GetVarnames((PyCodeObject *)code); }

PyObject *pydynamo_code_freevars(PyObject *code) { return PyCode_GetFreevars((PyCodeObject *)code); }

int pydynamo_weakref_is(PyObject *ref, PyObject *obj)
{
    /* wr_object is None once the object is dead; `obj` is alive, so equality means "this very object". */
    return ((PyWeakReference *)ref)->wr_object == obj;
}

PyObject *pydynamo_instance_dict(PyObject *obj)
{
    PyObject **slot = _PyObject_GetDictPtr(obj);
    return slot == NULL ? NULL : *slot;
}

PyObject *pydynamo_cell_get(PyObject *cell) { return ((PyCellObject *)cell)->ob_ref; }

int pydynamo_type_has_weakrefs(PyTypeObject *type)
{
    if (type->tp_weaklistoffset > 0)
        return 1;
#ifdef Py_TPFLAGS_MANAGED_WEAKREF
    if (type->tp_flags & Py_TPFLAGS_MANAGED_WEAKREF)
        return 1;
#endif
    return 0;
}

int pydynamo_is_method(PyObject *object) { return PyMethod_Check(object); }

PyObject *pydynamo_method_function(PyObject *method) { return PyMethod_GET_FUNCTION(method); }

PyObject *pydynamo_method_self(PyObject *method) { return PyMethod_GET_SELF(method); }

PyObject *pydynamo_method_new(PyObject *function, PyObject *self) { return PyMethod_New(function, self); }
