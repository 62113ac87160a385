package dev.pipewright.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.Keys;
import org.openqa.selenium.WebElement;

/**
 * The pages in the system's Chromium: skipped where there is none. With {@code -Dpictures=DIR} each
 * page is also kept as a picture.
 */
class BrowserTest {
  private static final int[] WIDTHS = {400, 1024, 1920};

  @TempDir static Path folder;
  private static SiteUnderTest site;
  private static Browser browser;
  private static String study;
  private static String front;

  @BeforeAll
  static void open() throws Exception {
    assumeTrue(Browser.isHere(), "needs the packages chromium and chromium-driver");
    site = new SiteUnderTest(folder.resolve("data"));
    browser = new Browser(site.address(), folder.resolve("profile"));
    Map<String, String> asked =
        Map.of("model", "bert-48", "cluster", "dapple-a", "batch", "64", "limit", "5");
    study = site.study(asked);
    front =
        site.study(
            Map.of(
                "model", "vgg-19", "cluster", "8xV100", "batch", "128", "limit", "5", "front",
                "on"));
  }

  @AfterAll
  static void close() {
    if (site != null) {
      browser.close();
      site.close();
    }
  }

  /** Looks at a page in all widths, light and dark. */
  private static void look(String path, String name, String drawn) throws Exception {
    for (boolean dark : new boolean[] {false, true}) {
      for (int width : WIDTHS) {
        browser.show(width, dark);
        browser.open(path);
        browser.await(drawn);
        browser.isSound();
        String pictures = System.getProperty("pictures", "");
        if (!pictures.isEmpty()) {
          Path to = Files.createDirectories(Path.of(pictures));
          browser.picture(to.resolve(name + "-" + width + (dark ? "-dark" : "") + ".png"));
        }
      }
      browser.isAccessible();
    }
  }

  @Test
  void theQuestionFitsEveryWindow() throws Exception {
    look("/", "study", "#study");
  }

  @Test
  void anAnswerFitsEveryWindow() throws Exception {
    look(study, "answer", "[data-drawn]");
  }

  @Test
  void aFrontFitsEveryWindow() throws Exception {
    look(front, "front", "[data-drawn]");
  }

  @Test
  void theHistoryFitsEveryWindow() throws Exception {
    look("/history", "history", "table");
  }

  @Test
  void exportsAndTheirRefusalsFitEveryWindow() throws Exception {
    browser.show(1024, false);
    browser.open(study);
    browser.find("a[href='" + study + "/export?to=galvatron']").click();
    assertTrue(browser.await(".mistake").getText().contains("cannot say"));
    look(browser.pathAndQuery(), "export-refused", ".mistake");
    browser.find("a[href='" + study + "/export?to=torch']").click();
    browser.await("pre");
    look(browser.pathAndQuery(), "export", "pre");
  }

  @Test
  void theQuestionOfAFileFitsEveryWindow() throws Exception {
    look("/inspect", "inspect", "#inspect");
  }

  @Test
  void aChosenFileIsInspectedAtOnce() throws Exception {
    Path file = folder.resolve("<script>alert(1)<script>.csv");
    Files.writeString(file, "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n");
    browser.show(1024, false);
    browser.open("/inspect");
    browser.find("[name=file]").sendKeys(file.toString());
    assertEquals("<script>alert(1)<script>.csv", browser.await(".name").getText());
    browser.isSound();
    look(browser.path(), "inspected", "img");
  }

  @Test
  void plansOfTheHistoryAreComparedByChoosingThem() throws Exception {
    site.study(
        Map.of(
            "model",
            "bert-48",
            "cluster",
            "dapple-a",
            "batch",
            "64",
            "limit",
            "5",
            "objective",
            "memory"));
    browser.show(1024, false);
    browser.open("/compare");
    String plans = "//label[contains(., 'bert-48 on dapple-a, 64')]/input";
    browser.allAt(plans).forEach(WebElement::click);
    browser.find("section[aria-labelledby=studies] button").click();
    browser.await("#differences");
    browser.isSound();
    look(browser.pathAndQuery(), "compared", "#differences");
  }

  @Test
  void slidersFitEveryWindow() throws Exception {
    look("/what-if?study=" + study.replace("/study/", ""), "what-if", "[data-drawn]");
    look("/what-if", "what-if-chooser", "#studies");
  }

  @Test
  void slidersAreMovedWithTheKeyboardAlone() {
    browser.show(1024, false);
    browser.open(study);
    browser.find("a[href^='/what-if']:not([href='/what-if'])").click();
    browser.await("[data-drawn]");
    browser.find("[name=memory]").sendKeys(Keys.ARROW_LEFT, Keys.ARROW_LEFT);
    browser.await("[data-moves]");
    assertTrue(browser.pathAndQuery().contains("memory=2"), browser.pathAndQuery());
    assertTrue(browser.find("#back").isDisplayed());
    browser.find("#back").click();
    browser.await("html:has(#sentence[data-capacity])");
    Object sentence = browser.run("return document.querySelector('#sentence').textContent");
    assertTrue(sentence.toString().strip().startsWith("A step takes"), sentence.toString());
    browser.isSound();
  }

  @Test
  void schedulesAreComparedWithTheKeyboardAlone() throws Exception {
    browser.show(1024, false);
    browser.open("/compare");
    browser
        .find("[name=schedules]")
        .sendKeys("1f1b, zb-h1, zb-v", Keys.TAB, "4", Keys.TAB, "8", Keys.ENTER);
    browser.await("#figures");
    look(browser.pathAndQuery(), "schedules", "#figures");
  }

  @Test
  void aStudyIsAskedWithTheKeyboardAlone() {
    browser.show(1024, false);
    browser.open("/");
    browser
        .find("[name=model]")
        .sendKeys("resnet-50", Keys.TAB, "8xV100", Keys.TAB, "64", Keys.ENTER);
    browser.await(".figures");
    assertTrue(browser.path().startsWith("/study/"), browser.path());
    assertEquals("resnet-50 on 8xV100", browser.find("h1").getText());
    browser.isSound();
  }

  @Test
  void aConfigurationThatIsChosenIsPlannedFor() throws Exception {
    Path file = folder.resolve("small.json");
    Files.writeString(
        file,
        """
        {"model_type": "llama", "hidden_size": 1024, "intermediate_size": 2816,
         "num_hidden_layers": 8, "num_attention_heads": 16, "vocab_size": 32000}
        """);
    browser.show(400, false);
    browser.open("/");
    browser.find("[name=model]").sendKeys("bert-48");
    browser.find("[name=file]").sendKeys(file.toString());
    assertEquals("", browser.find("[name=model]").getDomProperty("value"));
    browser.find("[name=cluster]").sendKeys("h100:1x8");
    browser.find("[name=batch]").sendKeys("32", Keys.ENTER);
    browser.await(".figures");
    assertEquals("small.json on h100:1x8", browser.find("h1").getText());
    browser.find("section[aria-labelledby=keep] form button").click();
    assertEquals("small.json", browser.await("[name=model]").getDomProperty("value"));
    look(browser.pathAndQuery(), "study-of-a-file", "[name=network]");
    browser.find("[name=batch]").sendKeys(Keys.HOME, Keys.DELETE, Keys.DELETE, "64", Keys.ENTER);
    browser.await(".figures");
    assertTrue(browser.find(".subject").getText().startsWith("64 samples"));
    browser.isSound();
  }

  @Test
  void anExampleIsAnsweredByAClick() {
    browser.show(1024, false);
    browser.open("/");
    browser.find(".examples button[data-cluster='dgx-a100:2x8']").click();
    browser.await(".figures");
    assertTrue(browser.find("#treemap canvas").isDisplayed());
    browser.find("a[href='/history']").click();
    assertTrue(browser.all("tbody a").getFirst().getText().startsWith("gpt:layers=24"));
  }

  @Test
  void aMistakeIsReadOut() {
    browser.open("/");
    browser.find("[name=model]").sendKeys("bart-48");
    browser.find("[name=cluster]").sendKeys("dapple-a");
    browser.find("[name=batch]").sendKeys("64", Keys.ENTER);
    assertTrue(browser.await("[role=alert]").getText().startsWith("model: no network 'bart-48'"));
    assertEquals("dapple-a", browser.find("[name=cluster]").getDomProperty("value"));
    assertEquals(1, browser.complaints().size(), "the status 422");
  }
}
