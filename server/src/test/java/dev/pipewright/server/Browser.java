package dev.pipewright.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.openqa.selenium.By;
import org.openqa.selenium.OutputType;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;

/** The system's Chromium without a window, on a site; it loads nothing from elsewhere. */
final class Browser implements AutoCloseable {
  private static final Path CHROMIUM = Path.of("/usr/bin/chromium");
  private static final Path DRIVER = Path.of("/usr/bin/chromedriver");
  private static final Duration PATIENCE = Duration.ofSeconds(120);

  /** Selenium looks for a version of the protocol that is not needed, and warns. */
  private static final Logger QUIET = Logger.getLogger("org.openqa.selenium");

  private final URI site;
  private final ChromeDriver driver;

  /** Whether there is one. */
  static boolean isHere() {
    return Files.isExecutable(CHROMIUM) && Files.isExecutable(DRIVER);
  }

  Browser(URI site, Path profile) {
    this.site = site;
    QUIET.setLevel(Level.SEVERE);
    ChromeOptions options = new ChromeOptions();
    options.setBinary(CHROMIUM.toString());
    options.addArguments(
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--disable-dev-shm-usage",
        "--user-data-dir=" + profile);
    driver =
        new ChromeDriver(
            new ChromeDriverService.Builder()
                .usingDriverExecutable(DRIVER.toFile())
                .usingAnyFreePort()
                .build(),
            options);
    driver.manage().timeouts().implicitlyWait(PATIENCE).scriptTimeout(PATIENCE);
  }

  void open(String path) {
    driver.get(site.resolve(path).toString());
  }

  WebElement find(String css) {
    return driver.findElement(By.cssSelector(css));
  }

  List<WebElement> all(String css) {
    return driver.findElements(By.cssSelector(css));
  }

  List<WebElement> allAt(String path) {
    return driver.findElements(By.xpath(path));
  }

  /** Waits until the page has an element. */
  WebElement await(String css) {
    return find(css); // which is patient
  }

  String path() {
    return URI.create(driver.getCurrentUrl()).getPath();
  }

  String pathAndQuery() {
    URI there = URI.create(driver.getCurrentUrl());
    return there.getRawPath() + "?" + there.getRawQuery();
  }

  Object run(String script) {
    return driver.executeScript(script);
  }

  /** How wide the window is and whether it is dark. */
  void show(int width, boolean dark) {
    driver.executeCdpCommand(
        "Emulation.setDeviceMetricsOverride",
        Map.of("width", width, "height", 900, "deviceScaleFactor", 1, "mobile", false));
    driver.executeCdpCommand(
        "Emulation.setEmulatedMedia",
        Map.of(
            "features",
            List.of(Map.of("name", "prefers-color-scheme", "value", dark ? "dark" : "light"))));
  }

  /** A picture of the whole page. */
  void picture(Path file) {
    long height = (Long) run("return document.documentElement.scrollHeight");
    long width = (Long) run("return document.documentElement.clientWidth");
    driver.executeCdpCommand(
        "Emulation.setDeviceMetricsOverride",
        Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", false));
    try {
      Files.write(file, driver.getScreenshotAs(OutputType.BYTES));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** No column of the page is wider than the window, and the console has no complaint. */
  void isSound() {
    assertEquals(
        run("return document.documentElement.clientWidth"),
        run("return document.documentElement.scrollWidth"),
        "wider than the window");
    assertEquals(List.of(), complaints());
  }

  /** What the console says since the last time, but advice. */
  List<String> complaints() {
    return driver.manage().logs().get(LogType.BROWSER).getAll().stream()
        .filter(entry -> entry.getLevel().intValue() >= Level.SEVERE.intValue())
        .map(LogEntry::getMessage)
        .toList();
  }

  /** No serious finding of axe-core. */
  void isAccessible() {
    try (InputStream in =
        Browser.class.getResourceAsStream(
            "/META-INF/resources/webjars/axe-core/4.6.3/axe.min.js")) {
      if (in == null) {
        throw new IllegalStateException("axe-core is not on the class path");
      }
      driver.executeScript(new String(in.readAllBytes(), StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Object found =
        driver.executeAsyncScript(
            """
            const done = arguments[0];
            axe.run().then(result => done(result.violations
              .filter(each => each.impact === 'serious' || each.impact === 'critical')
              .map(each => each.id + ': ' + each.nodes.map(node => node.html).join(' '))));
            """);
    assertEquals(List.of(), found);
  }

  @Override
  public void close() {
    driver.quit();
  }
}
