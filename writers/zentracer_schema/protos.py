"""Builds protobuf messages at run time, each family in a pool of its own.

Generated code would tie us to one protobuf release, and would clash with the same file names that TensorBoard and
TensorFlow register.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_F = descriptor_pb2.FieldDescriptorProto
_SCALARS = {
    "double": _F.TYPE_DOUBLE,
    "float": _F.TYPE_FLOAT,
    "int64": _F.TYPE_INT64,
    "int32": _F.TYPE_INT32,
    "uint32": _F.TYPE_UINT32,
    "uint64": _F.TYPE_UINT64,
    "bool": _F.TYPE_BOOL,
    "string": _F.TYPE_STRING,
    "bytes": _F.TYPE_BYTES,
    "enum": _F.TYPE_INT32,  # the same bytes on the wire; numbers of later releases stay readable
}


def message_classes(family: str, messages: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """The classes of some messages, by name.

    `messages` maps a name (`Outer.Inner` for one inside another) to its fields, each "name type number", with "*" where
    it is repeated and "@group" where it is a member of the oneof `group`. Fields that are left out are kept as unknown.
    """
    package = f"zentracer.{family}"
    file = descriptor_pb2.FileDescriptorProto(name=f"zentracer/{family}.proto", package=package, syntax="proto3")
    made: dict[str, descriptor_pb2.DescriptorProto] = {}
    for path, lines in messages.items():
        outer, _, inner = path.partition(".")
        message = made[outer].nested_type.add(name=inner) if inner else file.message_type.add(name=outer)
        made[path] = message
        for line in lines:
            _add_field(message, line, package)
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())  # Add() is gone from protobuf 7
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.{name}")) for name in messages}


def _add_field(message: descriptor_pb2.DescriptorProto, line: str, package: str) -> None:
    name, type_name, number, *marks = line.split()
    field = message.field.add(name=name, number=int(number), label=_F.LABEL_OPTIONAL)
    if type_name in _SCALARS:
        field.type = _SCALARS[type_name]
    else:
        field.type = _F.TYPE_MESSAGE
        field.type_name = f".{package}.{type_name}"
    for mark in marks:
        if mark == "*":
            field.label = _F.LABEL_REPEATED
        else:
            if not message.oneof_decl:
                message.oneof_decl.add(name=mark[1:])
            field.oneof_index = 0
