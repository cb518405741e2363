#section support_code
/* The greater of two lengths. */
static npy_intp greater(npy_intp a, npy_intp b) { return a > b ? a : b; }

#section init_code
loaded = 1;

#section support_code
static int loaded = 0;

#section support_code_apply
DTYPE_OUTPUT_0 APPLY_SPECIFIC(square)(DTYPE_INPUT_0 x) { return x * x; }

int APPLY_SPECIFIC(norm)(PyArrayObject* x, PyArrayObject* unused, PyArrayObject** z,
                         PyArrayObject** missing, PARAMS_TYPE* params) {
    if (unused != NULL || missing != NULL || !loaded) {
        PyErr_SetString(PyExc_SystemError, "not called as it was declared");
        return 1;
    }
    if (PyArray_DIM(x, 0) == 0) {
        PyErr_SetString(PyExc_ValueError, "the norm of nothing");
        return 1;
    }
    if (*z == NULL) *z = (PyArrayObject*)PyArray_EMPTY(0, NULL, TYPENUM_OUTPUT_0, 0);
    if (*z == NULL) return 1;
    DTYPE_OUTPUT_0 sum = 0;
    for (npy_intp i = 0; i < greater(PyArray_DIM(x, 0), 0); i++)
        sum += APPLY_SPECIFIC(square)(*(DTYPE_INPUT_0*)PyArray_GETPTR1(x, i));
    DTYPE_PARAM_factor factor = params->factor;
    *(DTYPE_OUTPUT_0*)PyArray_DATA(*z) = factor * sqrt(sum) + 0 * ITEMSIZE_INPUT_0;
    return 0;
}
