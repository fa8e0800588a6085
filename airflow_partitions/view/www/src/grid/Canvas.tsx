import { chakra } from "@chakra-ui/react";
import { useEffect, useRef } from "react";

/** A canvas of that size in CSS pixels, drawn anew with the next frame whenever it is told to draw something else. */
export const Canvas = ({
  width,
  height,
  draw,
}: {
  readonly width: number;
  readonly height: number;
  readonly draw: (canvas: CanvasRenderingContext2D) => void;
}) => {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const frame = requestAnimationFrame(() => {
      const element = canvas.current;
      const context = element?.getContext("2d");
      if (!element || !context) return;
      const ratio = window.devicePixelRatio;
      const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
      if (element.width !== across || element.height !== down) [element.width, element.height] = [across, down];
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      draw(context);
    });
    return () => cancelAnimationFrame(frame);
  }, [width, height, draw]);
  return (
    <chakra.canvas ref={canvas} aria-hidden width={width} height={height} style={{ width, height, display: "block" }} />
  );
};
