"""ONNX files to graphs and back: the only part that knows protobuf."""
