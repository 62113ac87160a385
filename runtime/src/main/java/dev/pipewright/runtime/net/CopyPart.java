package dev.pipewright.runtime.net;

import java.util.Optional;

/**
 * The scores of a copy of a tensor-parallel group, which has some of the tokens or samples: all
 * members of the copy judge their rows.
 *
 * @param words that this worker has of them, where the copy divides them
 */
public record CopyPart(TokenPart tokens, Optional<VocabularyPart> words) implements ScoresPart {
  @Override
  public boolean ownRows() {
    return false;
  }
}
