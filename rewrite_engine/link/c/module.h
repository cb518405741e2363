/* What the text of every node ends with: how Python calls it. `rw_node` is the node. */
namespace {

void rw_free(PyObject* capsule) {
    rw_node* node = (rw_node*)PyCapsule_GetPointer(capsule, "node");
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    node->rw_stop();
    Py_XDECREF(node->rw_filters);
    delete node;
    PyErr_Restore(type, value, traceback);
}

/* run(*inputs), or run(*inputs, *old outputs): the output, or a tuple of them. */
PyObject* rw_call(PyObject* self, PyObject* const* given, Py_ssize_t n) {
    rw_node* node = (rw_node*)PyCapsule_GetPointer(self, "node");
    if (n == RW_INPUTS) return node->rw_run(given, NULL);
    if (n == RW_INPUTS + RW_OUTPUTS) return node->rw_run(given, given + RW_INPUTS);
    PyErr_Format(PyExc_TypeError, "takes %d values, not %zd", RW_INPUTS, n);
    return NULL;
}

PyMethodDef rw_function = {
    "c_code", (PyCFunction)(void (*)(void))rw_call, METH_FASTCALL, "The C code of a node."};

/* make(params, filters): the function of a node. */
PyObject* rw_make(PyObject* module, PyObject* const* given, Py_ssize_t n) {
    if (n != 2) {
        PyErr_SetString(PyExc_TypeError, "make takes the parameters, and the filters of outputs");
        return NULL;
    }
    rw_node* node = new (std::nothrow) rw_node();
    if (node == NULL) return PyErr_NoMemory();
    if (node->rw_start(given[0]) != 0) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_RuntimeError, "the code of a struct failed without an exception");
        delete node;
        return NULL;
    }
    Py_INCREF(given[1]);
    node->rw_filters = given[1];
    PyObject* capsule = PyCapsule_New(node, "node", rw_free);
    if (capsule == NULL) return NULL;
    PyObject* function = PyCFunction_New(&rw_function, capsule);
    Py_DECREF(capsule);
    return function;
}

PyMethodDef rw_methods[] = {
    {"make", (PyCFunction)(void (*)(void))rw_make, METH_FASTCALL, NULL}, {NULL, NULL, 0, NULL}};

PyObject* rw_array_api() {
    import_array();
    Py_RETURN_NONE;
}

int rw_exec(PyObject* module) {
    PyObject* ready = rw_array_api();
    if (ready == NULL) return -1;
    Py_DECREF(ready);
    ready = rw_init_code();
    Py_XDECREF(ready);
    return ready == NULL || PyErr_Occurred() ? -1 : 0;
}

PyModuleDef_Slot rw_slots[] = {{Py_mod_exec, (void*)rw_exec}, {0, NULL}};
PyModuleDef rw_module = {PyModuleDef_HEAD_INIT, "node", NULL, 0, rw_methods, rw_slots};

}  // namespace

PyMODINIT_FUNC PyInit_node(void) { return PyModuleDef_Init(&rw_module); }
