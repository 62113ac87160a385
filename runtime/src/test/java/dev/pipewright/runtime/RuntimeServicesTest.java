package dev.pipewright.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.runtime.training.Trainer;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleDescriptor.Provides;
import java.lang.module.ModuleFinder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The runtime as a module: services, and nothing to import. */
class RuntimeServicesTest {
  private static ModuleDescriptor module() throws Exception {
    Path classes =
        Path.of(Trainer.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    return ModuleFinder.of(classes).find("dev.pipewright.runtime").orElseThrow().descriptor();
  }

  @Test
  void theModuleProvidesWhatTheClassPathNames() throws Exception {
    Map<String, List<String>> named = new TreeMap<>();
    try (Stream<Path> files = Files.list(Path.of("src/main/resources/META-INF/services"))) {
      for (Path file : files.toList()) {
        named.put(file.getFileName().toString(), Files.readAllLines(file));
      }
    }
    assertEquals(4, named.size(), named.toString());
    Map<String, List<String>> provided =
        module().provides().stream()
            .collect(Collectors.toMap(Provides::service, Provides::providers));
    assertEquals(named, new TreeMap<>(provided));
  }

  @Test
  void theModuleExportsNothing() throws Exception {
    assertEquals(Set.of(), module().exports());
  }
}
