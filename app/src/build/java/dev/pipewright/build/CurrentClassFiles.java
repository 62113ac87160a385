package dev.pipewright.build;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Opcodes;

/**
 * Rewrites old class files of a library as those of Java 8, with the frames that the verifier of
 * today needs. The JVM keeps no class of an older version in its archives of linked classes: it
 * reads and verifies them at every start.
 *
 * <p>Run by the build: {@code java -cp asm.jar CurrentClassFiles.java FOLDER NAME}, where NAME is
 * what the jar's name begins with. A jar without old class files stays as it is.
 */
final class CurrentClassFiles {
  private static final int JAVA_8 = Opcodes.V1_8;
  private static final String NOTICE = "META-INF/pipewright-changes.txt"; // Apache License 2.0, §4b

  private CurrentClassFiles() {}

  public static void main(String[] arguments) throws IOException {
    List<Path> jars = new ArrayList<>();
    try (var files = Files.newDirectoryStream(Path.of(arguments[0]), arguments[1] + "-*.jar")) {
      files.forEach(jars::add);
    }
    if (jars.size() != 1) {
      throw new IllegalStateException("one jar named " + arguments[1] + ", not " + jars);
    }
    rewrite(jars.get(0));
  }

  private static void rewrite(Path jar) throws IOException {
    if (!hasOld(jar)) { // or no longer
      return;
    }
    Path rewritten = jar.resolveSibling(jar.getFileName() + ".new");
    try (JarFile in = new JarFile(jar.toFile());
        URLClassLoader library = loader(jar.toFile());
        OutputStream file = Files.newOutputStream(rewritten);
        JarOutputStream out = new JarOutputStream(file)) {
      long time = 0;
      for (JarEntry entry : Collections.list(in.entries())) {
        byte[] content = content(in, entry);
        time = entry.getTime();
        boolean old = isOld(entry, content);
        add(out, entry.getName(), time, old ? current(content, library) : content);
      }
      String notice = "Class files older than Java 8 were rewritten as those of Java 8.\n";
      add(out, NOTICE, time, notice.getBytes(StandardCharsets.UTF_8));
    }
    Files.move(rewritten, jar, StandardCopyOption.REPLACE_EXISTING);
  }

  private static boolean hasOld(Path jar) throws IOException {
    try (JarFile in = new JarFile(jar.toFile())) {
      for (JarEntry entry : Collections.list(in.entries())) {
        if (isOld(entry, content(in, entry))) {
          return true;
        }
      }
    }
    return false;
  }

  private static byte[] content(JarFile jar, JarEntry entry) throws IOException {
    try (var bytes = jar.getInputStream(entry)) {
      return bytes.readAllBytes();
    }
  }

  private static URLClassLoader loader(File jar) throws IOException {
    return new URLClassLoader(new URL[] {jar.toURI().toURL()});
  }

  private static void add(JarOutputStream out, String name, long time, byte[] content)
      throws IOException {
    JarEntry entry = new JarEntry(name);
    entry.setTime(time);
    out.putNextEntry(entry);
    out.write(content);
    out.closeEntry();
  }

  private static boolean isOld(JarEntry entry, byte[] content) {
    return entry.getName().endsWith(".class") && (content[6] << 8 | content[7] & 0xff) < JAVA_8;
  }

  private static byte[] current(byte[] old, ClassLoader library) {
    ClassWriter writer =
        new ClassWriter(ClassWriter.COMPUTE_FRAMES) {
          @Override
          protected ClassLoader getClassLoader() {
            return library;
          }
        };
    ClassVisitor visitor =
        new ClassVisitor(Opcodes.ASM9, writer) {
          @Override
          public void visit(
              int version, int access, String name, String of, String parent, String[] interfaces) {
            super.visit(JAVA_8, access, name, of, parent, interfaces);
          }
        };
    new ClassReader(old).accept(visitor, ClassReader.SKIP_FRAMES);
    return writer.toByteArray();
  }
}
