"""Figures of the operator pages, drawn by the project itself as SVG text."""
