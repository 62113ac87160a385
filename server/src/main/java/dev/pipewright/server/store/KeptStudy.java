package dev.pipewright.server.store;

import java.time.Instant;
import java.util.List;

/**
 * A finished study: a command line and its answer.
 *
 * @param id of command line and version, from which its link is made
 * @param command without the program's name, as {@code --json} answers it
 * @param version of Pipewright
 * @param ended whether the search was ended before it was done, so that asking anew may find better
 * @param headline the answer in a few words; empty where nothing fits
 * @param answer the JSON object that the command prints; empty where it prints none
 * @param remarks what the command says besides, a sentence a line
 */
public record KeptStudy(
    String id,
    List<String> command,
    String version,
    Instant created,
    boolean ended,
    String headline,
    String answer,
    String remarks) {
  public KeptStudy {
    command = List.copyOf(command);
  }

  /** The same with other words. */
  public KeptStudy with(String otherAnswer, String otherRemarks) {
    return new KeptStudy(id, command, version, created, ended, headline, otherAnswer, otherRemarks);
  }
}
