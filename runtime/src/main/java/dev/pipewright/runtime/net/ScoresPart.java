package dev.pipewright.runtime.net;

/** What a worker has of a network's scores where a group divides them. */
public sealed interface ScoresPart permits VocabularyPart, TokenPart, CopyPart {
  /** Whether each worker judges rows of its own, so that all count. */
  boolean ownRows();
}
