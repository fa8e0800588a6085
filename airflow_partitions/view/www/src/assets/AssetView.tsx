import { Alert, Box, Code, Stack, Text } from "@chakra-ui/react";
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useState } from "react";
import { useNavigate } from "react-router-dom";

import { Actions } from "../actions/Actions";
import { KeysDialog } from "../actions/KeysDialog";
import { PausedDags } from "../actions/PausedDags";
import { Calendar } from "../calendar/Calendar";
import { dimensionsOf } from "../grid/dimensions";
import { Grid } from "../grid/Grid";
import { keyOf, type Cell, type Picture } from "../grid/picture";
import { StretchTable } from "../grid/StretchTable";
import { useArrangement } from "../grid/useArrangement";
import { askForWhole } from "../grid/useGrid";
import { Answer } from "../page/Answer";
import { paths } from "../page/paths";
import type { components } from "../rest/schema";
import { SelectionBar } from "../selection/SelectionBar";
import { useCounts } from "../selection/useCounts";
import { isNarrowed, usePicture } from "../selection/usePicture";
import { TaskMatrix } from "../tasks/TaskMatrix";
import { Description } from "./AssetAbout";
import { AssetFoot } from "./AssetFoot";
import { AssetHead } from "./AssetHead";
import { useAsset } from "./useAsset";
import { definitionWords } from "./words";

/** The partitions of one asset. */
export const AssetView = ({ asset }: { readonly asset: string }) => {
  const queries = useQueryClient();
  useEffect(() => {
    if (!isNarrowed(new URLSearchParams(window.location.search))) askForWhole(queries, asset);
  }, [queries, asset]);
  return <Answer query={useAsset(asset)}>{(data) => <Partitions asset={data} />}</Answer>;
};

const Partitions = ({ asset }: { readonly asset: components["schemas"]["AssetDetails"] }) => {
  const { name, definition, may_change: mayChange } = asset;
  const navigate = useNavigate();
  const shown = usePicture();
  const [inView, setInView] = useState("");
  const [isDrawn, setDrawn] = useState(false);
  const onDrawn = useCallback(() => setDrawn(true), []);
  const [pasted, setPasted] = useState<string>();
  const { select, states } = shown;
  const { names, time } = useMemo(() => dimensionsOf(definition), [definition]);
  const arrangement = useArrangement(name, names, shown);
  const { data: selected } = useCounts(name, select);
  const open = (picture: Picture, cell: Cell, text: string) => {
    const key = keyOf(picture, cell, names, arrangement.only);
    if (key !== null) void navigate(paths.partition(name, key));
    else if (cell.total > 0) shown.onList(text);
  };
  return (
    <Stack gap={4}>
      <Box>
        <Description sources={asset.sources} />
        <Text color="fg.muted" fontSize="sm" title={definition.text}>
          {definitionWords(definition)}
        </Text>
      </Box>
      {asset.absent.map((dag) => (
        <Alert.Root key={dag.dag_id} status="error" role="alert">
          <Alert.Indicator />
          <Alert.Content minW={0}>
            <Alert.Title overflowWrap="anywhere">Airflow can’t run it now: {dag.text}</Alert.Title>
            {dag.error === null ? null : (
              <Code variant="plain" whiteSpace="pre-wrap" overflowWrap="anywhere">
                {dag.error}
              </Code>
            )}
          </Alert.Content>
        </Alert.Root>
      ))}
      <PausedDags dags={asset.paused} mayChange={mayChange} />
      <AssetHead
        arrangement={arrangement}
        shown={shown}
        several={asset.sources.some(({ tasks }) => (tasks ?? 0) > 1)}
        mayChange={mayChange}
        onPaste={() => setPasted("")}
      />
      <KeysDialog asset={name} first={pasted ?? ""} open={pasted !== undefined} onClose={() => setPasted(undefined)} />
      <Box>
        {shown.form === "table" ? (
          <StretchTable asset={name} select={select} states={states} />
        ) : shown.form === "tasks" ? (
          <TaskMatrix
            arrangement={arrangement}
            definition={definition}
            shown={shown}
            tasks={asset.sources.reduce((sum, source) => sum + (source.tasks ?? 0), 0)}
            onSeen={setInView}
          />
        ) : shown.form === "calendar" ? (
          <Calendar
            arrangement={arrangement}
            definition={definition}
            shown={shown}
            canonical={selected && (selected.selection ?? select)}
            onSeen={setInView}
            onDrawn={onDrawn}
            onOpen={open}
          />
        ) : (
          <Grid
            arrangement={arrangement}
            definition={definition}
            shown={shown}
            canonical={selected && (selected.selection ?? select)}
            onSeen={setInView}
            onDrawn={onDrawn}
            onOpen={open}
          />
        )}
      </Box>
      <SelectionBar
        asset={name}
        select={select}
        states={states}
        inView={inView}
        example={asset.example}
        timed={time !== null}
        onSelect={shown.onSelect}
        onLong={mayChange ? setPasted : undefined}
      >
        <Actions asset={name} selection={select} states={states} mayChange={mayChange} />
      </SelectionBar>
      {/* What it asks for would keep the server from the picture. */}
      {isDrawn || shown.form === "table" || shown.form === "tasks" ? (
        <AssetFoot asset={asset} arrangement={arrangement} />
      ) : null}
    </Stack>
  );
};
