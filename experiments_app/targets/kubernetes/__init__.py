"""Clusters: their life, and the images that their nodes need."""
