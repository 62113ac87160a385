package dev.pipewright.dist;

import dev.pipewright.app.cli.CommandLineProgram;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.asciidoctor.Asciidoctor;
import org.asciidoctor.Attributes;
import org.asciidoctor.Options;
import org.asciidoctor.SafeMode;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.codegen.docgen.manpage.ManPageGenerator;

/** Writes manual pages of all commands. */
public final class Manual {
  private Manual() {}

  /**
   * Writes {@code pipewright.1}, {@code pipewright-plan.1} and so on.
   *
   * @param args the folders of their sources in AsciiDoc and of the pages
   */
  public static void main(String[] args) throws IOException {
    CommandSpec program = new CommandLineProgram().commands();
    List<CommandSpec> all = new ArrayList<>(List.of(program));
    for (CommandLine command : program.subcommands().values()) {
      all.add(command.getCommandSpec());
    }
    int status =
        ManPageGenerator.generateManPage(
            new File(args[0]), null, new boolean[0], false, all.toArray(CommandSpec[]::new));
    if (status != 0) {
      throw new IllegalStateException("the manual was not written; picocli says " + status);
    }
    Options options =
        Options.builder()
            .backend("manpage")
            .attributes(Attributes.builder().attribute("reproducible").build())
            .safe(SafeMode.UNSAFE) // writes into the other folder
            .toDir(new File(args[1]))
            .mkDirs(true)
            .build();
    try (Asciidoctor asciidoctor = Asciidoctor.Factory.create();
        Stream<Path> sources = Files.list(Path.of(args[0]))) {
      sources.forEach(source -> asciidoctor.convertFile(source.toFile(), options));
    }
  }
}
