/* What the text of every node begins with. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>
#include <exception>
#include <new>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace {

/* Puts another value in the place of one; takes a new reference, gives up the old one. */
inline void rw_set(PyObject** place, PyObject* value) {
    PyObject* old = *place;
    Py_INCREF(value);
    *place = value;
    Py_XDECREF(old);
}

inline bool rw_same_number(int a, int b) { return a == b || PyArray_EquivTypenums(a, b); }

inline bool rw_is_array(PyObject* value, int number, int ndim) {
    if (!PyArray_CheckExact(value)) return false;
    PyArrayObject* array = (PyArrayObject*)value;
    return PyArray_NDIM(array) == ndim && rw_same_number(PyArray_TYPE(array), number) &&
           PyArray_ISBEHAVED_RO(array);
}

/* An array, as a new reference: aligned, of a dtype and number of dimensions. NULL: an error. */
PyArrayObject* rw_array(PyObject* value, int number, int ndim) {
    if (rw_is_array(value, number, ndim)) {
        Py_INCREF(value);
        return (PyArrayObject*)value;
    }
    PyArrayObject* array;
    if (PyArray_Check(value)) {
        Py_INCREF(value);
        array = (PyArrayObject*)value;
    } else if (PyArray_IsScalar(value, Generic)) {
        array = (PyArrayObject*)PyArray_FromScalar(value, NULL);
        if (array == NULL) return NULL;
    } else {
        PyErr_Format(PyExc_TypeError, "expected an array, got %.100s", Py_TYPE(value)->tp_name);
        return NULL;
    }
    if (PyArray_NDIM(array) != ndim || !rw_same_number(PyArray_TYPE(array), number)) {
        PyArray_Descr* expected = PyArray_DescrFromType(number);
        PyErr_Format(PyExc_TypeError, "expected an array of %R with %d dimensions, got %R with %d",
                     expected, ndim, PyArray_DESCR(array), PyArray_NDIM(array));
        Py_XDECREF(expected);
        Py_DECREF(array);
        return NULL;
    }
    if (PyArray_ISBEHAVED_RO(array)) return array;
    PyArray_Descr* native = PyArray_DescrFromType(number);
    int wanted = NPY_ARRAY_ALIGNED | NPY_ARRAY_WRITEABLE | NPY_ARRAY_ENSURECOPY;
    PyObject* copy = PyArray_FromArray(array, native, wanted);
    Py_DECREF(array);
    return (PyArrayObject*)copy;
}

inline bool rw_is_number(PyObject* value, int number) {
    return (PyObject*)Py_TYPE(value) == PyArray_TypeObjectFromType(number);
}

/* Reads a NumPy scalar, or an array that is one number. */
int rw_number(PyObject* value, int number, void* place) {
    if (PyArray_IsScalar(value, Generic)) {
        PyArray_Descr* dtype = PyArray_DescrFromScalar(value);
        if (dtype == NULL) return -1;
        bool same = rw_same_number(dtype->type_num, number);
        Py_DECREF(dtype);
        if (same) {
            PyArray_ScalarAsCtype(value, place);
            return 0;
        }
    } else if (PyArray_Check(value) && PyArray_NDIM((PyArrayObject*)value) == 0) {
        PyArrayObject* array = rw_array(value, number, 0);
        if (array == NULL) return -1;
        memcpy(place, PyArray_DATA(array), PyArray_ITEMSIZE(array));
        Py_DECREF(array);
        return 0;
    }
    PyArray_Descr* expected = PyArray_DescrFromType(number);
    PyErr_Format(PyExc_TypeError, "expected a NumPy scalar of %R, got %R", expected, value);
    Py_XDECREF(expected);
    return -1;
}

int rw_set_number(PyObject** place, int number, void* value) {
    PyArray_Descr* dtype = PyArray_DescrFromType(number);
    if (dtype == NULL) return -1;
    PyObject* found = PyArray_Scalar(value, dtype, NULL);
    Py_DECREF(dtype);
    if (found == NULL) return -1;
    rw_set(place, found);
    Py_DECREF(found);
    return 0;
}

/* What a node gives, if it is of the output's type; else what the type's filter makes of it. */
int rw_check(bool valid, PyObject** place, PyObject* filters, int i) {
    if (valid) return 0;
    PyObject* found = PyObject_CallOneArg(PyTuple_GET_ITEM(filters, i), *place);
    if (found == NULL) return -1;
    rw_set(place, found);
    Py_DECREF(found);
    return 0;
}

}  // namespace
