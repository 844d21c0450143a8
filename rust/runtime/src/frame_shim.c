/* The eval-frame hook (PEP 523): turns a frame that is about to start into a frame of other code, in place.
 *
 * This file knows the interpreter's frame layout and nothing else: what to run instead is decided above (`decide`), and
 * which threads are watched follows from the regions they open. A frame that arrives here has its arguments bound and
 * has not run; it is on top of its thread's data stack. To retarget it: make room, clear the new slots, exchange the code
 * and point at its first instruction. Clearing, popping and tracebacks are then the interpreter's own work.
 */
#define Py_BUILD_CORE_MODULE 1
#include "shim.h"

#if defined(Py_GIL_DISABLED)
#define UNAVAILABLE "free-threaded builds of Python are not supported by the eval-frame hook"
#elif defined(Py_DEBUG) || defined(Py_REF_DEBUG)
#define UNAVAILABLE "debug builds of Python are not supported by the eval-frame hook"
#elif PY_VERSION_HEX < 0x030b0000 || PY_VERSION_HEX >= 0x03100000
#define UNAVAILABLE "the eval-frame hook knows the frames of Python 3.11 to 3.15 only"
#endif

/* 3.12 and 3.13 allow a fixed number of nested C calls (800 on some releases), which hooked Python calls would use up long
 * before Python's own recursion limit. Where the real stack has been measured, it is the bound instead: a call starts with
 * at least this many nested C calls left. */
#if PY_VERSION_HEX >= 0x030c0000 && PY_VERSION_HEX < 0x030e0000
enum { NESTED_CALLS = 200 };
static inline int lift_limit(PyThreadState *tstate)
{
    int before = tstate->c_recursion_remaining;
    if (before < NESTED_CALLS)
        tstate->c_recursion_remaining = NESTED_CALLS;
    return before;
}
static inline void restore_limit(PyThreadState *tstate, int before) { tstate->c_recursion_remaining = before; }
#else
static inline int lift_limit(PyThreadState *tstate) { return 0; }
static inline void restore_limit(PyThreadState *tstate, int before) {}
#endif

#ifndef UNAVAILABLE

#include "internal/pycore_code.h"
#include "internal/pycore_frame.h"
#include "internal/pycore_interp.h"
#include "internal/pycore_pystate.h"
#if PY_VERSION_HEX >= 0x030e0000
#include "internal/pycore_interpframe.h"
#include "internal/pycore_stackref.h"
#endif

/* ---- differences between versions --------------------------------------------------------------------------------- */

#if PY_VERSION_HEX >= 0x030e0000
typedef _PyStackRef slot_t;
static inline PyObject *slot_object(slot_t slot) { return PyStackRef_AsPyObjectBorrow(slot); }
static inline slot_t slot_null(void) { return PyStackRef_NULL; }
static inline void slot_clear(slot_t *slot)
{
    slot_t old = *slot;
    *slot = PyStackRef_NULL;
    PyStackRef_XCLOSE(old);
}
static inline PyObject *frame_code(_PyInterpreterFrame *f) { return PyStackRef_AsPyObjectBorrow(f->f_executable); }
static inline PyObject *frame_function(_PyInterpreterFrame *f) { return PyStackRef_AsPyObjectBorrow(f->f_funcobj); }
static inline void frame_set_code(_PyInterpreterFrame *f, PyCodeObject *code)
{
    _PyStackRef old = f->f_executable;
    f->f_executable = PyStackRef_FromPyObjectNew((PyObject *)code);
    f->instr_ptr = _PyCode_CODE(code);
    f->stackpointer = f->localsplus + code->co_nlocalsplus;
    PyStackRef_CLOSE(old);
}
static inline int frame_at_start(_PyInterpreterFrame *f, PyCodeObject *code)
{
    return f->instr_ptr == _PyCode_CODE(code);
}
#else
typedef PyObject *slot_t;
static inline PyObject *slot_object(slot_t slot) { return slot; }
static inline slot_t slot_null(void) { return NULL; }
static inline void slot_clear(slot_t *slot) { Py_CLEAR(*slot); }
#if PY_VERSION_HEX >= 0x030d0000
static inline PyObject *frame_code(_PyInterpreterFrame *f) { return f->f_executable; }
static inline PyObject *frame_function(_PyInterpreterFrame *f) { return f->f_funcobj; }
static inline void frame_set_code(_PyInterpreterFrame *f, PyCodeObject *code)
{
    PyObject *old = f->f_executable;
    f->f_executable = Py_NewRef((PyObject *)code);
    f->instr_ptr = _PyCode_CODE(code);
    f->stacktop = code->co_nlocalsplus;
    Py_DECREF(old);
}
static inline int frame_at_start(_PyInterpreterFrame *f, PyCodeObject *code)
{
    return f->instr_ptr == _PyCode_CODE(code);
}
#else
static inline PyObject *frame_code(_PyInterpreterFrame *f) { return (PyObject *)f->f_code; }
static inline PyObject *frame_function(_PyInterpreterFrame *f)
{
#if PY_VERSION_HEX >= 0x030c0000
    return f->f_funcobj;
#else
    return (PyObject *)f->f_func;
#endif
}
static inline void frame_set_code(_PyInterpreterFrame *f, PyCodeObject *code)
{
    PyObject *old = (PyObject *)f->f_code;
    f->f_code = (PyCodeObject *)Py_NewRef((PyObject *)code);
    f->prev_instr = _PyCode_CODE(code) - 1;
    f->stacktop = code->co_nlocalsplus;
    Py_DECREF(old);
}
static inline int frame_at_start(_PyInterpreterFrame *f, PyCodeObject *code)
{
    return f->prev_instr == _PyCode_CODE(code) - 1;
}
#endif
#endif

/* ---- state -------------------------------------------------------------------------------------------------------- */

enum { GENERATOR_FLAGS = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR, INLINE_ARGUMENTS = 64 };

/* Per process, guarded by the GIL. */
static pydynamo_hook_calls calls;
static PyCodeObject *retired_code;        /* code without parameters that returns None; owned for ever */
static _PyFrameEvalFunction previous;     /* the hook that was there before; NULL: the interpreter's own evaluator */
static Py_ssize_t regions;                /* open regions in all threads */
static Py_ssize_t count_retargeted, count_rebuilt;

/* Per thread. */
static _Thread_local int watching;                /* open regions of this thread */
static _Thread_local int suspended;               /* while > 0, frames of this thread are not offered */
static _Thread_local PyObject *skipped;           /* borrowed: the next frame of this code is not offered */
static _Thread_local _PyInterpreterFrame *passed; /* innermost frame that is with the hook below ours */
static _Thread_local const pydynamo_probe *probe; /* self-test: only compare what the layout says with what is known */
static _Thread_local int probe_result;

static PyObject *hook(PyThreadState *tstate, _PyInterpreterFrame *frame, int throwflag);

/* ---- installing --------------------------------------------------------------------------------------------------- */

static void install(PyInterpreterState *interp)
{
    _PyFrameEvalFunction current = _PyInterpreterState_GetEvalFrameFunc(interp);
    if (current == hook)
        return;
    /* Another hook may be on top of ours, or may have dropped ours: either way it becomes the one below. Should it still
     * hand frames down to us, `passed` breaks the circle. */
    previous = current == _PyEval_EvalFrameDefault ? NULL : current;
    _PyInterpreterState_SetEvalFrameFunc(interp, hook);
}

static void uninstall(PyInterpreterState *interp)
{
    if (_PyInterpreterState_GetEvalFrameFunc(interp) != hook)
        return; /* someone is on top of us: removing them is not ours to do; see `hook` for what happens later */
    _PyInterpreterState_SetEvalFrameFunc(interp, previous ? previous : _PyEval_EvalFrameDefault);
    previous = NULL;
}

const char *pydynamo_hook_unavailable(void)
{
    if (Py_Version >> 16 != PY_VERSION_HEX >> 16)
        return "this build of pydynamo was made with the headers of another version of Python";
    return NULL;
}

void pydynamo_hook_configure(const pydynamo_hook_calls *upward, PyObject *retired)
{
    calls = *upward;
    retired_code = (PyCodeObject *)Py_NewRef(retired);
}

void pydynamo_hook_open_region(void)
{
    regions++;
    watching++;
    install(PyInterpreterState_Get());
}

void pydynamo_hook_close_region(void)
{
    watching--;
    if (--regions == 0)
        uninstall(PyInterpreterState_Get());
}

void pydynamo_hook_suspend(void) { suspended++; }

void pydynamo_hook_resume(void) { suspended--; }

void pydynamo_hook_skip_next(PyObject *code)
{
    if (watching > 0 && suspended == 0)
        skipped = code;
}

void pydynamo_hook_statistics(Py_ssize_t *retargeted, Py_ssize_t *rebuilt)
{
    *retargeted = count_retargeted;
    *rebuilt = count_rebuilt;
}

void pydynamo_hook_set_probe(const pydynamo_probe *value)
{
    probe = value;
    if (value != NULL)
        probe_result = 0;
}

int pydynamo_hook_probe_result(void) { return probe_result; }

/* ---- frames ------------------------------------------------------------------------------------------------------- */

/* Hands the frame to the hook below ours. That may bring it back to us: if two hooks were installed over each other in
 * turn, each believes that the other is below. Whatever ran in between has restored `passed` by then. */
static PyObject *pass_down(PyThreadState *tstate, _PyInterpreterFrame *frame, int throwflag, _PyFrameEvalFunction below)
{
    if (below == NULL || passed == frame)
        return _PyEval_EvalFrameDefault(tstate, frame, throwflag);
    _PyInterpreterFrame *outer = passed;
    passed = frame;
    PyObject *result = below(tstate, frame, throwflag);
    passed = outer;
    return result;
}

static PyObject *evaluate(PyThreadState *tstate, _PyInterpreterFrame *frame, int throwflag)
{
    return pass_down(tstate, frame, throwflag, previous);
}

/* Ends a frame that will not run: drops its arguments and lets the interpreter evaluate code that only returns, unseen by
 * trace functions and monitoring. Returns 0, or -1 with an exception (a signal handler's) set; the frame is gone either
 * way. An exception that is set on entry must have been put aside. */
static int dispose(PyThreadState *tstate, _PyInterpreterFrame *frame, int slots)
{
    for (int i = 0; i < slots; i++)
        slot_clear(&frame->localsplus[i]);
    frame_set_code(frame, retired_code);
    PyThreadState_EnterTracing(tstate);
    PyObject *result = _PyEval_EvalFrameDefault(tstate, frame, 0);
    PyThreadState_LeaveTracing(tstate);
    if (result == NULL)
        return -1;
    Py_DECREF(result);
    return 0;
}

/* Ends the frame and keeps the exception that is set. */
static PyObject *fail(PyThreadState *tstate, _PyInterpreterFrame *frame, int slots)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (dispose(tstate, frame, slots) < 0)
        PyErr_Clear();
    PyErr_Restore(type, value, traceback);
    return NULL;
}

static int argument_slots(PyCodeObject *code)
{
    return code->co_argcount + code->co_kwonlyargcount + !!(code->co_flags & CO_VARARGS) +
           !!(code->co_flags & CO_VARKEYWORDS);
}

/* Why `code` cannot run in a frame made for `old`; NULL if it can. */
static const char *mismatch(PyCodeObject *old, PyCodeObject *code)
{
    int kinds = CO_VARARGS | CO_VARKEYWORDS;
    int function = CO_OPTIMIZED | CO_NEWLOCALS;
    if (old->co_argcount != code->co_argcount || old->co_kwonlyargcount != code->co_kwonlyargcount ||
        (old->co_flags & kinds) != (code->co_flags & kinds))
        return "its parameters differ in number or kind";
    if (code->co_flags & GENERATOR_FLAGS)
        return "it is the code of a generator or coroutine";
    if ((code->co_flags & function) != function)
        return "it is not the code of a function";
    if (old->co_nfreevars != code->co_nfreevars)
        return "its free variables differ in number";
    for (int i = 1; i <= code->co_nfreevars; i++) {
        PyObject *mine = PyTuple_GET_ITEM(old->co_localsplusnames, old->co_nlocalsplus - i);
        PyObject *its = PyTuple_GET_ITEM(code->co_localsplusnames, code->co_nlocalsplus - i);
        if (mine != its && PyUnicode_Compare(mine, its) != 0)
            return "its free variables have other names";
    }
    return NULL;
}

/* Borrowed references to the frame's arguments: in `few` where they fit, else in memory of their own (release_arguments);
 * NULL with an exception set when there is none. */
static PyObject **collect_arguments(_PyInterpreterFrame *frame, int slots, PyObject **few)
{
    PyObject **arguments = few;
    if (slots > INLINE_ARGUMENTS) {
        arguments = PyMem_Malloc(slots * sizeof(PyObject *));
        if (arguments == NULL) {
            PyErr_NoMemory();
            return NULL;
        }
    }
    for (int i = 0; i < slots; i++)
        arguments[i] = slot_object(frame->localsplus[i]);
    return arguments;
}

static void release_arguments(PyObject **arguments, PyObject **few)
{
    if (arguments != few)
        PyMem_Free(arguments);
}

/* These two stay out of line, so that the recursion through `hook` does not carry their arrays on the C stack. */

__attribute__((noinline)) static PyObject *ask(_PyInterpreterFrame *frame, PyCodeObject *code, int slots)
{
    PyObject *few[INLINE_ARGUMENTS], **arguments = collect_arguments(frame, slots, few);
    if (arguments == NULL)
        return NULL;
    suspended++; /* what `decide` runs is not offered to it */
    PyObject *replacement = calls.decide((PyObject *)code, frame_function(frame), arguments, slots);
    suspended--;
    release_arguments(arguments, few);
    return replacement;
}

/* Runs `code` as a new call with the frame's arguments, for a frame that has no room to grow. */
__attribute__((noinline)) static PyObject *call_instead(PyThreadState *tstate, _PyInterpreterFrame *frame,
                                                        PyObject *code, int slots)
{
    PyObject *few[INLINE_ARGUMENTS], **arguments = collect_arguments(frame, slots, few);
    if (arguments == NULL)
        return fail(tstate, frame, slots);
    PyObject *function = Py_NewRef(frame_function(frame));
    for (int i = 0; i < slots; i++)
        Py_INCREF(arguments[i]);
    PyObject *result = NULL;
    if (dispose(tstate, frame, slots) == 0) {
        count_rebuilt++;
        skipped = code;
        result = calls.rebuild(code, function, arguments, slots);
        skipped = NULL;
    }
    for (int i = 0; i < slots; i++)
        Py_DECREF(arguments[i]);
    Py_DECREF(function);
    release_arguments(arguments, few);
    return result;
}

/* Runs `replacement` (a reference that this takes) in place of the frame's own code. */
static PyObject *run_replacement(PyThreadState *tstate, _PyInterpreterFrame *frame, PyObject *replacement, int slots)
{
    PyCodeObject *old = (PyCodeObject *)frame_code(frame), *code = (PyCodeObject *)replacement;
    slot_t *end = frame->localsplus + old->co_nlocalsplus + old->co_stacksize;
    slot_t *wanted = frame->localsplus + code->co_nlocalsplus + code->co_stacksize;
    if (wanted > end) {
        int on_top = tstate->datastack_top == (PyObject **)end;
        if (!on_top || (PyObject **)wanted > tstate->datastack_limit) {
            PyObject *result = call_instead(tstate, frame, replacement, slots);
            Py_DECREF(replacement);
            return result;
        }
        tstate->datastack_top = (PyObject **)wanted;
    }
    /* Slots of arguments stay; the old code's other slots are empty already, since it has not run. */
    for (int i = old->co_nlocalsplus; i < code->co_nlocalsplus; i++)
        frame->localsplus[i] = slot_null();
    frame_set_code(frame, code);
    Py_DECREF(replacement); /* the frame holds it */
    count_retargeted++;
    return evaluate(tstate, frame, 0);
}

/* The self-test's question: is everything where the headers say? Nothing but the frame itself is read. */
static int probe_agrees(_PyInterpreterFrame *frame)
{
    if (frame_code(frame) != probe->code || frame_function(frame) != probe->function || frame->frame_obj != NULL ||
        frame->owner != FRAME_OWNED_BY_THREAD || frame->f_globals != probe->globals)
        return 0;
    for (int i = 0; i < probe->nargs; i++)
        if (slot_object(frame->localsplus[i]) != probe->args[i])
            return 0;
    return frame_at_start(frame, (PyCodeObject *)probe->code);
}

static PyObject *handle(PyThreadState *tstate, _PyInterpreterFrame *frame, int throwflag)
{
    if (regions == 0) {
        /* Left behind when a hook that was on top of ours went away. */
        _PyFrameEvalFunction below = previous;
        uninstall(tstate->interp);
        return pass_down(tstate, frame, throwflag, below);
    }
    if (probe != NULL) {
        if (probe_result == 0)
            probe_result = probe_agrees(frame) ? 1 : -1;
        return evaluate(tstate, frame, throwflag);
    }
    if (watching == 0 || suspended > 0 || throwflag || passed == frame || frame->owner != FRAME_OWNED_BY_THREAD ||
        frame->frame_obj != NULL)
        return evaluate(tstate, frame, throwflag);
    PyCodeObject *code = (PyCodeObject *)frame_code(frame);
    if (skipped == (PyObject *)code) {
        skipped = NULL;
        return evaluate(tstate, frame, throwflag);
    }
    if ((code->co_flags & GENERATOR_FLAGS) || !frame_at_start(frame, code))
        return evaluate(tstate, frame, throwflag);

    int slots = argument_slots(code);
    if (pydynamo_stack_is_low() == 1) {
        /* While a hook is set each Python call takes C stack, which 3.11 does not count. */
        PyErr_SetString(PyExc_RecursionError, "maximum recursion depth exceeded: the C stack is nearly used up");
        return fail(tstate, frame, slots);
    }
    PyObject *replacement = ask(frame, code, slots);
    if (replacement == NULL)
        return PyErr_Occurred() ? fail(tstate, frame, slots) : evaluate(tstate, frame, throwflag);
    const char *why = mismatch(code, (PyCodeObject *)replacement);
    if (why != NULL) {
        suspended++;
        calls.report_mismatch((PyObject *)code, replacement, why);
        suspended--;
        Py_DECREF(replacement);
        return fail(tstate, frame, slots);
    }
    return run_replacement(tstate, frame, replacement, slots);
}

static PyObject *hook(PyThreadState *tstate, _PyInterpreterFrame *frame, int throwflag)
{
    if (watching == 0 || pydynamo_stack_is_low() != 0)
        return handle(tstate, frame, throwflag);
    int limit = lift_limit(tstate);
    PyObject *result = handle(tstate, frame, throwflag);
    restore_limit(tstate, limit);
    return result;
}

#else /* UNAVAILABLE */

const char *pydynamo_hook_unavailable(void) { return UNAVAILABLE; }
void pydynamo_hook_configure(const pydynamo_hook_calls *upward, PyObject *retired) {}
void pydynamo_hook_open_region(void) {}
void pydynamo_hook_close_region(void) {}
void pydynamo_hook_suspend(void) {}
void pydynamo_hook_resume(void) {}
void pydynamo_hook_skip_next(PyObject *code) {}
void pydynamo_hook_statistics(Py_ssize_t *retargeted, Py_ssize_t *rebuilt) { *retargeted = *rebuilt = 0; }
void pydynamo_hook_set_probe(const pydynamo_probe *value) {}
int pydynamo_hook_probe_result(void) { return 0; }

#endif

int pydynamo_is_watched(void)
{
    PyThreadState *tstate = PyThreadState_Get();
    if (tstate->c_tracefunc != NULL)
        return 1;
#if !defined(UNAVAILABLE) && PY_VERSION_HEX >= 0x030c0000
    /* PEP 669: for each event, a bit for each tool. A profiler (2, and 6 for sys.setprofile) and an optimizer (5) want to
     * see what really runs. */
    const unsigned char watchers = (unsigned char)~(1 << 2 | 1 << 5 | 1 << 6);
    const _Py_GlobalMonitors *monitors = &tstate->interp->monitors;
    unsigned char tools = 0;
    for (size_t event = 0; event < sizeof(monitors->tools); event++)
        tools |= monitors->tools[event];
    return (tools & watchers) != 0;
#else
    return 0;
#endif
}

PyObject *pydynamo_bounded_vectorcall(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    int low = pydynamo_stack_is_low();
    if (low < 0)
        return PyObject_Vectorcall(callable, args, nargsf, kwnames);
    if (low) {
        PyErr_SetString(PyExc_RecursionError, "maximum recursion depth exceeded: the C stack is nearly used up");
        return NULL;
    }
    PyThreadState *tstate = PyThreadState_Get();
    int limit = lift_limit(tstate);
    PyObject *result = PyObject_Vectorcall(callable, args, nargsf, kwnames);
    restore_limit(tstate, limit);
    return result;
}
