"""Reads files of safetensors by the published format alone, with Python's own library."""
import json
import struct
import sys


def read(path):
    """The tensors of a file: name -> (dtype, shape, values), and its metadata."""
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        head = json.loads(file.read(length))
        data = file.read()
    metadata = head.pop("__metadata__", {})
    end = 0
    tensors = {}
    for name, entry in sorted(head.items(), key=lambda item: item[1]["data_offsets"]):
        begin, stop = entry["data_offsets"]
        assert begin == end, name + " begins at %d instead of %d" % (begin, end)
        end = stop
        kind, width = {"F32": ("f", 4), "I64": ("q", 8)}[entry["dtype"]]
        count = 1
        for extent in entry["shape"]:
            count *= extent
        assert stop - begin == count * width, name
        tensors[name] = (entry["dtype"], entry["shape"], struct.unpack("<%d%s" % (count, kind), data[begin:stop]))
    assert end == len(data), "%d bytes are left" % (len(data) - end)
    return tensors, metadata


def main():
    tensors, metadata = read(sys.argv[1])
    for key in sorted(metadata):
        print("metadata", key, metadata[key])
    for name in sorted(tensors):
        dtype, shape, values = tensors[name]
        bits = struct.pack(">%d%s" % (len(values), {"F32": "f", "I64": "q"}[dtype]), *values).hex()
        print(name, dtype, "x".join(map(str, shape)), bits)


if __name__ == "__main__":
    main()
