import { expect, test } from "vitest";

import { sentence } from "../../src/partition/sentence";

test.each([
  ["its newest run failed", "Its newest run failed"],
  ["run manual__1 of days failed at 10:00", "Run manual__1 of days failed at 10:00"],
  ["task days failed after 3 tries: ValueError: no", "Task days failed after 3 tries: ValueError: no"],
  ["an event from outside materialized it at 10:00", "An event from outside materialized it at 10:00"],
  ["no Dag makes it: events come from outside", "No Dag makes it: events come from outside"],
])("%s begins with a capital", (reason, words) => expect(sentence(reason)).toBe(words));

test.each([
  "'days', which has no partitions, has had no event yet",
  "1 of 2 partitions of 'days' that it needs are there",
  "ann marked it as materialized at 10:00",
  "run marked it as materialized at 10:00",
  "the took it over from s3://lake; it was materialized at 10:00",
  "émile forgot it at 10:00",
  "italy marked it as materialized at 10:00",
])("%s begins with a name or a number, which stays", (reason) => expect(sentence(reason)).toBe(reason));
