import { Badge } from "@chakra-ui/react";

/** Says of a materialization that nothing counted what it read of some inputs; nothing where all is proven. */
export const UnprovenBadge = ({ unproven }: { readonly unproven: string | null | undefined }) =>
  unproven == null ? null : (
    <Badge
      colorPalette="orange"
      title={`What it read of ${unproven} is not proven: nothing counted it where its job ran`}
    >
      reads not proven
    </Badge>
  );
