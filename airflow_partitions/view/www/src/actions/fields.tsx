import { Checkbox, Field, Input, Text, Textarea } from "@chakra-ui/react";
import type { ReactNode } from "react";

type Texts = {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly help?: string | undefined;
  readonly mistake?: string | undefined;
};

const Words = ({ help, mistake }: Pick<Texts, "help" | "mistake">) => (
  <>
    {help === undefined ? null : <Field.HelperText>{help}</Field.HelperText>}
    <Field.ErrorText overflowWrap="anywhere">{mistake}</Field.ErrorText>
  </>
);

/** A line of text with its label, and what is wrong with it. */
export const TextField = ({
  label,
  value,
  onChange,
  help,
  mistake,
  type = "text",
}: Texts & { readonly type?: string }) => (
  <Field.Root invalid={mistake !== undefined}>
    <Field.Label>{label}</Field.Label>
    <Input size="sm" type={type} dir="auto" value={value} onChange={(event) => onChange(event.target.value)} />
    <Words help={help} mistake={mistake} />
  </Field.Root>
);

/** Some lines of text with their label, and what is wrong with them. */
export const LinesField = ({
  label,
  value,
  onChange,
  help,
  mistake,
  code = false,
  rows = code ? 4 : 2,
}: Texts & { readonly code?: boolean; readonly rows?: number }) => (
  <Field.Root invalid={mistake !== undefined}>
    <Field.Label>{label}</Field.Label>
    <Textarea
      size="sm"
      rows={rows}
      dir="auto"
      fontFamily={code ? "mono" : undefined}
      spellCheck={!code}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
    <Words help={help} mistake={mistake} />
  </Field.Root>
);

/** A box to tick. */
export const Tick = ({
  label,
  help,
  checked,
  onChange,
}: {
  readonly label: ReactNode;
  readonly help?: string | undefined;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
}) => (
  <Checkbox.Root
    size="sm"
    colorPalette="brand"
    alignItems={help === undefined ? "center" : "start"}
    checked={checked}
    onCheckedChange={(change) => onChange(change.checked === true)}
  >
    <Checkbox.HiddenInput />
    <Checkbox.Control mt={help === undefined ? 0 : 0.5} />
    <Checkbox.Label>
      {label}
      {help === undefined ? null : (
        <Text fontSize="xs" fontWeight="normal" color="fg.muted">
          {help}
        </Text>
      )}
    </Checkbox.Label>
  </Checkbox.Root>
);
