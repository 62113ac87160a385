package dev.pipewright.app.report.timeline;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.app.report.page.PageReader;
import dev.pipewright.app.report.plan.Pipelines;
import dev.pipewright.trace.Timeline;
import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class TimelineDataTest {
  @Test
  void packedTimesAddUpToThoseOfTheSlices() {
    Timeline timeline = Pipelines.timeline(3, 50, 0.0101, 0.0203, 0.0031, 0.025);
    JsonNode lane =
        PageReader.json(TimelineData.of(Runs.of("packed", timeline)))
            .get("runs")
            .get(0)
            .get("lanes")
            .get(0);
    double perPart = timeline.stepSeconds() / TimelineData.PARTS;
    long end = 0;
    List<Timeline.Slice> slices = timeline.lanes().get(0).slices();
    for (int i = 0; i < slices.size(); i++) {
      long start = end + lane.get("slices").get(4 * i + 2).asLong();
      end = start + lane.get("slices").get(4 * i + 3).asLong();
      assertEquals(slices.get(i).start(), start * perPart, perPart);
      assertEquals(slices.get(i).end(), end * perPart, perPart);
    }
  }
}
