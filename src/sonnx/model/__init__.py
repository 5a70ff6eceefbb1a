"""Small frozen values that describe models: element types, tensors, nodes, graphs, places in them."""
