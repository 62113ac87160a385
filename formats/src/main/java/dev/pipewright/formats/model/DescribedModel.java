package dev.pipewright.formats.model;

/** What a file says of a network: measured layers, or the shape of a transformer. */
public sealed interface DescribedModel permits ModelFile, TransformerFile {}
