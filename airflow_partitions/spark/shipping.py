"""Shipping a decorated function to a Spark driver: as text, checked when the Dag is parsed."""

from __future__ import annotations
import __future__

import ast
import builtins
import inspect
import linecache
import symtable
import textwrap
from collections.abc import Callable, Collection, Iterator, Mapping
from types import FunctionType
from typing import Any

import attrs

from airflow_partitions.core.errors import ShippingError

#: Parameters with a meaning of their own; all others are inputs.
RESERVED = ("spark", "partition", "partitions")

_BUILTINS = frozenset(dir(builtins))
_FUTURE = "from __future__ import annotations"


@attrs.frozen
class Shipped:
    """A function as text that runs where its Dag file is not.

    :ivar name: the function's name.
    :ivar source: a module that defines it: decorators and annotations of the function itself are gone.
    :ivar parameters: its parameters without a default.
    """

    name: str
    source: str
    parameters: tuple[str, ...]

    def load(self) -> Callable[..., Any]:
        """Make the function anew."""
        file = f"<shipped {self.name}>"
        # Tracebacks show the lines of a source that is registered here.
        linecache.cache[file] = (len(self.source), None, self.source.splitlines(keepends=True), file)
        # What belongs to the main program is sent to workers by value, and dataclasses look for their module.
        names: dict[str, Any] = {"__name__": "__main__"}
        exec(compile(self.source, file, "exec", dont_inherit=True), names)  # noqa: S102 - running it is the purpose
        loaded: Callable[..., Any] = names[self.name]
        return loaded

    def to_json(self) -> dict[str, Any]:
        """JSON form."""
        return {"name": self.name, "source": self.source, "parameters": list(self.parameters)}

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> Shipped:
        """The inverse of :meth:`to_json`."""
        return cls(form["name"], form["source"], tuple(form["parameters"]))


def ship(
    function: Callable[..., Any],
    *,
    inputs: Collection[str] = (),
    modules: Collection[str] = (),
    returns: str = "a DataFrame with the rows of the partition",
) -> Shipped:
    """Make *function* ready for shipping.

    Only its body travels. It may use its parameters, its own variables, builtins, what it imports itself, and the
    modules that go along.

    :param function: a plain function at the top level of its file.
    :param inputs: names of the inputs, allowed as parameters beside ``spark``, ``partition`` and ``partitions``.
    :param modules: top-level modules shipped with the job (``py_files=``).
    :param returns: what it is to return, for messages.
    :raises ShippingError: if it can't be shipped; the message names the variable and the way out.
    """
    plain = _check_kind(function)
    where = f"function {plain.__name__!r}"
    node = _definition(plain, where)
    _check_return(node, where, returns)
    parameters = _check_parameters(plain, where, inputs)
    cleaned = _Cleaner(node).cleaned
    lines = [_FUTURE] if plain.__code__.co_flags & __future__.annotations.compiler_flag else []
    lines += _imports(plain, cleaned, modules)
    source = "\n".join([*lines, ast.unparse(cleaned), ""])
    _check_names(plain, source, where, modules)
    return Shipped(plain.__name__, source, parameters)


def _check_kind(function: Callable[..., Any]) -> FunctionType:
    name = getattr(function, "__name__", repr(function))
    if not isinstance(function, FunctionType):
        raise ShippingError(f"{name!r} is a {type(function).__name__}; expected a function written with def")
    problems = {
        "is a lambda; expected a function written with def": name == "<lambda>",
        "is async; Spark functions are plain: remove async": inspect.iscoroutinefunction(function)
        or inspect.isasyncgenfunction(function),
        "is a generator; expected a function that returns one DataFrame": inspect.isgeneratorfunction(function),
        "is defined inside another function or class; move it to the top level of its file": "."
        in function.__qualname__,
        "is wrapped by another decorator, which would be lost; call that helper inside the function": hasattr(
            function, "__wrapped__"
        ),
    }
    for problem, applies in problems.items():
        if applies:
            raise ShippingError(f"function {name!r} {problem}")
    return function


def _definition(function: FunctionType, where: str) -> ast.FunctionDef:
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError) as error:
        raise ShippingError(f"{where}: its source can't be read ({error}); expected it to be in a file") from None
    node = tree.body[0]
    if not isinstance(node, ast.FunctionDef) or node.name != function.__name__:
        raise ShippingError(f"{where}: its source is not its own; expected no decorator that replaces the function")
    return node


def _check_return(node: ast.FunctionDef, where: str, returns: str) -> None:
    """Refuse a function that never returns a value nor ends by an error."""
    left: list[ast.AST] = list(node.body)
    while left:
        part = left.pop()
        if isinstance(part, ast.Raise) or (isinstance(part, ast.Return) and part.value is not None):
            return
        if not isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            left += ast.iter_child_nodes(part)
    raise ShippingError(f"{where} returns nothing; expected {returns}: return …")


def _check_parameters(function: FunctionType, where: str, inputs: Collection[str]) -> tuple[str, ...]:
    allowed = [*RESERVED, *inputs]
    needed = []
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise ShippingError(f"{where}: parameter {str(parameter)!r} is not supported; expected names of: {allowed}")
        if parameter.default is parameter.empty and name not in allowed:
            raise ShippingError(
                f"{where}: parameter {name!r} is nothing we can give; expected one of: {', '.join(allowed)};"
                f" for an input add it to inputs={{{name!r}: …}}"
            )
        if name in allowed:
            needed.append(name)
    return tuple(needed)


class _Cleaner(ast.NodeTransformer):
    """Takes decorators and annotations off a function, not off what is defined inside: those do run."""

    def __init__(self, node: ast.FunctionDef) -> None:
        node.decorator_list = []
        node.returns = None
        arguments = node.args
        for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]:
            argument.annotation = None
        node.body = [self.visit(statement) for statement in node.body]
        self.cleaned = ast.fix_missing_locations(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        """Annotations of local variables never run."""
        if node.value is None:
            return ast.Pass()
        return ast.Assign(targets=[node.target], value=node.value)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        """Inner functions stay as they are: pandas_udf reads their annotations."""
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.stmt:
        """Inner classes stay as they are: dataclasses read their annotations."""
        return node


def _imports(function: FunctionType, node: ast.FunctionDef, modules: Collection[str]) -> list[str]:
    """Import lines for shipped modules that the Dag file imports at its top."""
    lines = []
    for name in sorted({child.id for child in ast.walk(node) if isinstance(child, ast.Name)}):
        value = function.__globals__.get(name)
        if inspect.ismodule(value) and value.__name__.partition(".")[0] in modules:
            lines.append(f"import {value.__name__}" + (f" as {name}" if name != value.__name__ else ""))
    return lines


def _check_names(function: FunctionType, source: str, where: str, modules: Collection[str]) -> None:
    table = symtable.symtable(source, f"<{function.__name__}>", "exec")
    imported = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_imported()}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.level:
            raise ShippingError(
                f"{where}: a relative import needs its package; write the full name, and py_files= to ship it"
            )
    for name, declared in _free_names(table):
        if declared:
            raise ShippingError(f"{where}: 'global {name}' does not travel to Spark; use a local variable")
        if name in imported:
            continue
        if name in _BUILTINS and function.__globals__.get(name, getattr(builtins, name)) is getattr(builtins, name):
            continue
        raise ShippingError(f"{where} {_reason(function, name, modules)}")


def _free_names(table: symtable.SymbolTable) -> Iterator[tuple[str, bool]]:
    """Names that *table* and the scopes inside take from the module, and whether by a global statement."""
    for symbol in table.get_symbols():
        if table.get_type() == "module":
            # Names of decorators, defaults and imports: everything the module itself reads but does not bind.
            if symbol.is_referenced() and not (symbol.is_assigned() or symbol.is_imported()):
                yield symbol.get_name(), False
        elif symbol.is_declared_global():
            yield symbol.get_name(), True
        elif symbol.is_global() and symbol.is_referenced():
            yield symbol.get_name(), False
    for child in table.get_children():
        yield from _free_names(child)


def _reason(function: FunctionType, name: str, modules: Collection[str]) -> str:
    """Why *name* can't be used, and what to do."""
    if name not in function.__globals__:
        return f"uses {name!r}, which is not defined"
    value = function.__globals__[name]
    if name == function.__name__:
        return "calls itself, but only its body is shipped; define a helper inside it"
    if inspect.ismodule(value):
        line = f"import {value.__name__}" + (f" as {name}" if name != value.__name__ else "")
        return f"uses the module {name!r} imported at the top of the file; write {line!r} inside the function"
    home = getattr(value, "__module__", None)
    if home and home != function.__module__ and hasattr(value, "__name__"):
        line = f"from {home} import {value.__name__}" + (f" as {name}" if name != value.__name__ else "")
        return f"uses {name!r} imported at the top of the file; write {line!r} inside the function"
    if callable(value):
        return f"uses {name!r} of its file; define it inside the function, or import it there from a file in py_files="
    shipped = f" ({', '.join(sorted(modules))} go along)" if modules else ""
    return f"uses the variable {name!r} of its file; write its value inside the function, or import it there{shipped}"
