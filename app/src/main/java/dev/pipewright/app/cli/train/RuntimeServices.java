package dev.pipewright.app.cli.train;

import dev.pipewright.formats.file.BadInputException;
import java.util.ServiceLoader;

/** Finds what trains: a module of its own, since libtorch is large and planning does without. */
final class RuntimeServices {
  private RuntimeServices() {}

  /** The service; throws {@link BadInputException} where the runtime is not on the class path. */
  static <T> T find(Class<T> service, String command) {
    return ServiceLoader.load(service)
        .findFirst()
        .orElseThrow(() ->
            new BadInputException(
                "%s: the training runtime is not on the class path, and no package has it; start `./pipewright %s` in a checkout, which builds it"
                    .formatted(command, command)));
  }
}
