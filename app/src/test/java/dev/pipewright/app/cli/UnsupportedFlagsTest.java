package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The command {@code schedule} with flags that change nothing. */
class UnsupportedFlagsTest {
  private static Cli schedule(String args) {
    return Cli.run(("schedule " + args + " --stages 2 --micro-batches 4").split(" "));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "1f1b --time-limit 5 | --time-limit: only optimal supports it, not 1f1b; leave it out, or take optimal",
        "1f1b --beside zb-h1 --time-limit 5 | --time-limit: only optimal supports it, not 1f1b, zb-h1; leave it out, or take optimal",
        "1f1b --runs 5 | --runs: without --jitter or --stragglers all runs are the same; leave it out, or give --jitter 0.1",
        "1f1b --seed 5 | --seed: without --jitter or --stragglers all runs are the same; leave it out, or give --jitter 0.1",
        "1f1b --per-machine 2 | --per-machine: only shared transfers go by machines; leave it out, or give --transfers shared",
        "1f1b --transfers queued --per-machine 2 | --per-machine: only shared transfers go by machines; leave it out, or give --transfers shared",
        "1f1b --step-times 1,1,1,1 | --step-times: '1,1,1,1' is the time of nothing in 1f1b; leave it out, or take one with such updates or exchanges, like dp",
        "zb-h1 --beside gpipe --step-times 1,0,0,0 | --step-times: '1,0,0,0' is the time of nothing in zb-h1, gpipe; leave it out, or take one with such updates or exchanges, like dp",
        "pipedream --step-times 0,1,1,1 | --step-times: '0,1,1,1' is the time of nothing in pipedream; leave it out, or take one with such updates or exchanges, like dp",
        "1f1b --beside zb-h1 --chunks 3 | --chunks: none of 1f1b, zb-h1 can run 3 on each rank; leave --chunks out",
        "1f1b --slow 1:0 | --slow: rank 1 cannot compute in no time; give a factor above 0, like 1.5",
        "1f1b --slow 1:2,1:3 | --slow: '1:2,1:3' names rank 1 twice; name it once",
      })
  void whatChangesNothingIsRefused(String args, String sentence) {
    assertEquals(sentence, schedule(args).refusal(2));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "1f1b --time-limit 5 --beside optimal",
        "1f1b --runs 5 --seed 3 --stragglers 0.5:2",
        "1f1b --transfers shared --per-machine 1",
        "1f1b --step-times 0,0,0,0",
        "pipedream --step-times 1,1,1,1",
        "1f1b --step-times 0,1,0,0 --beside dp",
        "1f1b --chunks 2 --beside zb-v",
        "1f1b --chunks 3 --beside interleaved",
        "1f1b --slow 1:1",
        "1f1b --overlap",
      })
  void whatAnyOfTheSchedulesHeedsIsFine(String args) {
    schedule(args).ends(0);
  }
}
