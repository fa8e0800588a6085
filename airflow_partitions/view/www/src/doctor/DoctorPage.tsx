import { Alert, Badge, Button, Text } from "@chakra-ui/react";
import { keepPreviousData } from "@tanstack/react-query";
import { useState } from "react";

import { counted } from "../page/amounts";
import { Answer } from "../page/Answer";
import { Loading } from "../page/Loading";
import { Page } from "../page/Page";
import { LIVE } from "../page/queries";
import { rest } from "../rest/client";
import { Problems } from "./Problems";

/** How often the doctor looks again, in milliseconds; at all records, which may take it some seconds, less often. */
const PACE = { quick: 10_000, thorough: 300_000 };

const Looking = () => (
  <>
    <Text color="fg.muted" mb={4}>
      Looks at all Dags, requests and deadlines…
    </Text>
    <Loading rows={4} />
  </>
);

const UpkeepBadge = () => {
  const upkeep = rest.useQuery("get", "/api/v1/upkeep", {}, { refetchInterval: LIVE });
  if (upkeep.data === undefined) return null;
  const { alive } = upkeep.data;
  return <Badge colorPalette={alive ? "green" : "red"}>{alive ? "upkeep runs" : "upkeep does not run"}</Badge>;
};

const AllWell = ({ complete }: { readonly complete: boolean }) => (
  <Alert.Root status="success">
    <Alert.Indicator />
    <Alert.Title>{complete ? "Nothing is stuck" : "Nothing is stuck, as far as you may see"}</Alert.Title>
  </Alert.Root>
);

/** What is stuck, and what mends it. */
export const DoctorPage = () => {
  const [records, setRecords] = useState(false);
  const diagnosis = rest.useQuery(
    "get",
    "/api/v1/doctor",
    { params: { query: { records } } },
    { refetchInterval: records ? PACE.thorough : PACE.quick, placeholderData: keepPreviousData },
  );
  const thorough = (
    <Button
      size="sm"
      variant="outline"
      disabled={records && !diagnosis.isPlaceholderData}
      loading={diagnosis.isPlaceholderData}
      loadingText="Looks at all records"
      onClick={() => setRecords(true)}
    >
      {records ? "All records were looked at" : "Look at all records, too"}
    </Button>
  );
  return (
    <Page title="Doctor" beside={<UpkeepBadge />} actions={thorough}>
      <Answer query={diagnosis} loading={<Looking />}>
        {({ problems, complete }) =>
          problems.length === 0 ? (
            <AllWell complete={complete} />
          ) : (
            <>
              <Text color="fg.muted" mb={4} aria-live="polite">
                {counted(problems.length, "problem")}
                {complete ? "" : ", as far as you may see"}. What is mended leaves the list.
              </Text>
              <Problems problems={problems} />
            </>
          )
        }
      </Answer>
    </Page>
  );
};
