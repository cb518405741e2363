"""Settings: what they may be, changing them for a while, and from the environment."""

from __future__ import annotations

import copy
import pickle

import pytest

import rewrite_engine.tensor as pt
from rewrite_engine.config import _from_environment, compiler, config


def test_for_a_while() -> None:
    with config.change_flags(floatX="float32", on_unused_input="ignore"):
        assert pt.vector().dtype == "float32"
    assert (config.floatX, config.on_unused_input) == ("float64", "raise")
    with pytest.raises(KeyError), config.change_flags(floatX="float32"):
        raise KeyError
    assert config.floatX == "float64"

    @config.change_flags(floatX="float32")
    def decorated() -> str:
        return config.floatX

    assert [decorated(), decorated(), config.floatX] == ["float32", "float32", "float64"]


def test_it_shows_its_settings() -> None:
    with config.change_flags(check=True):
        assert repr(config).startswith("Config(floatX='float64', mode='fast_run', ")
        assert "check=True" in repr(config)


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="floatX must be one of .* not 'float99'"):
        config.floatX = "float99"
    with pytest.raises(AttributeError):
        config.flotX = "float32"
    with (
        pytest.raises(ValueError, match="on_rule_error"),
        config.change_flags(floatX="float32", on_rule_error="shrug"),
    ):
        pass
    with pytest.raises(AttributeError), config.change_flags(flotX="float32"):
        pass
    assert (config.floatX, config.on_rule_error) == ("float64", "raise")


def test_settings_of_other_libraries() -> None:
    with config.change_flags(cxx="", exception_verbosity="high", on_opt_error="warn"):
        assert (config.cxx, config.on_rule_error) == ("", "warn")
    assert (config.on_rule_error, config.on_opt_error) == ("raise", "raise")
    with config.change_flags(cxx=None, base_compiledir="somewhere"):
        assert (config.cxx, config.compiledir) == (compiler(), "somewhere")
    with config.change_flags(compute_test_value="raise", cast_policy="numpy+floatX"):
        assert (config.compute_test_value, config.cast_policy) == ("raise", "custom")
    with pytest.raises(ValueError, match="cast_policy is always 'custom' .*dtype of the array"):
        config.cast_policy = "other"
    assert config.device == "cpu"  # which Theano's programs ask
    with pytest.raises(ValueError, match="device is always 'cpu' .*run on the CPU"):
        config.device = "gpu0"
    with pytest.raises(ValueError, match=r"first_call is always False .*f\.profile\.reset\(\)"):
        config.profiling__ignore_first_call = True
    config.profile_memory = True  # (a profile always includes memory)
    with pytest.raises(ValueError, match="profile_memory is always False .*always includes memory"):
        config.profile_memory = "yes"
    with config.change_flags(("cxx", ""), ("floatX", "float32"), linker="auto"):
        assert (config.cxx, config.floatX) == ("", "float32")
    with pytest.raises(ValueError, match="linker must be one of auto, vm, native, jax, py"):
        config.linker = "c|py"
    with pytest.raises(ValueError, match="optimizer is always 'o4' .*fast_compile"):
        config.optimizer = "fast_compile"
    with pytest.raises(ValueError, match="tensor__cmp_sloppy is always 0 .*abs_tol"):
        config.tensor__cmp_sloppy = 1
    with pytest.raises(ValueError, match=r"global_stats is always False .*f\.profile\.summary"):
        config.print_global_stats = True


@pytest.mark.parametrize("name", ["exception_verbosty", "fold_limt"])
def test_unknown_settings_are_named(name: str) -> None:
    for call in (lambda: getattr(config, name), lambda: setattr(config, name, 1)):
        with pytest.raises(AttributeError, match=f"no setting '{name}'; did you mean"):
            call()


def test_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REWRITE_ENGINE_FLAGS", "floatX=float32, fold_limit=5")
    found = _from_environment()
    assert (found.floatX, found.fold_limit) == ("float32", 5)
    monkeypatch.setenv("REWRITE_ENGINE_FLAGS", "flotX=float32")
    with pytest.raises(ValueError, match="no setting 'flotX'"):
        _from_environment()


def test_a_pickle_means_the_one_there_is() -> None:
    assert pickle.loads(pickle.dumps(config)) is config
    assert copy.deepcopy({"config": config})["config"] is config
