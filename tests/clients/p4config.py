"""The message `p4.tmp.P4DeviceConfig`, in which the tutorials' library wraps what it pushes.

The published Python packages no longer have it. As a command, it runs another program that imports it:
`python -m p4config PROGRAM ARGUMENTS…`.
"""

import pathlib
import runpy
import sys
import types

import p4
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

NAME = "p4.tmp"


def register():
    file = descriptor_pb2.FileDescriptorProto(name="p4/tmp/p4config.proto", package=NAME, syntax="proto3")
    message = file.message_type.add(name="P4DeviceConfig")
    field = descriptor_pb2.FieldDescriptorProto
    message.field.add(name="reassign", number=1, type=field.TYPE_BOOL, label=field.LABEL_OPTIONAL)
    message.field.add(name="device_data", number=3, type=field.TYPE_BYTES, label=field.LABEL_OPTIONAL)
    pool = descriptor_pool.Default()
    pool.Add(file)
    factory = message_factory.MessageFactory(pool)
    package, module = types.ModuleType(NAME), types.ModuleType(NAME + ".p4config_pb2")
    module.P4DeviceConfig = factory.GetPrototype(pool.FindMessageTypeByName(NAME + ".P4DeviceConfig"))
    package.p4config_pb2 = module
    p4.tmp = package
    sys.modules.update({package.__name__: package, module.__name__: module})


register()

if __name__ == "__main__":
    sys.argv = sys.argv[1:]
    sys.path[0] = str(pathlib.Path(sys.argv[0]).parent)
    runpy.run_path(sys.argv[0], run_name="__main__")
