/**
 * Reading: only what was displayed is approved. A text has been read once all of it was on the screen, from its beginning
 * to its end without a gap, as in Emacs: jumping to its end is not enough.
 */
import { useEffect, useRef, useState } from 'preact/hooks';

export interface Reading {
  isRead: boolean;
  /** True if only a part of the width is on the screen; then nothing counts as displayed. */
  isZoomed: boolean;
  /** The element where the text begins, and an empty one below its end. */
  beginning: { current: HTMLElement | null };
  end: { current: HTMLDivElement | null };
}

/** In ms. A text that has just appeared under a finger has not been read. */
const SETTLING_MS = 700;
/** In pixels, for fractions of a pixel and of the scale. */
const SLACK = 2;
const ZOOMED = 1.02;

/** How far this text has been read. One that changes has to be read again. */
export function useReading(text: string): Reading {
  const beginning = useRef<HTMLElement>(null);
  const end = useRef<HTMLDivElement>(null);
  const [read, setRead] = useState<string | null>(null);
  const [isZoomed, setZoomed] = useState(false);

  useEffect(() => {
    /** How much was displayed without a gap, in pixels from the beginning, at this size. */
    let displayed = 0;
    let size = '';
    let settled: ReturnType<typeof setTimeout> | undefined;
    let frame = 0;

    function look(): void {
      frame = 0;
      const from = beginning.current?.getBoundingClientRect();
      const to = end.current?.getBoundingClientRect();
      const screen = visibleHeight();
      setZoomed(screen === null);
      if (from === undefined || to === undefined || screen === null || document.hidden) return;
      const length = to.top - from.top;
      // The phone was turned, or the letters are larger: everything has moved.
      const now = `${from.width} ${length}`;
      if (now !== size) displayed = 0;
      size = now;
      const { top, bottom } = screen;
      if (bottom > top && top - from.top <= displayed + SLACK)
        displayed = Math.max(displayed, bottom - from.top);
      if (displayed >= length - SLACK) settled ??= setTimeout(() => setRead(text), SETTLING_MS);
    }
    const moved = (): void => {
      if (frame === 0) frame = requestAnimationFrame(look);
    };

    const sizes = new ResizeObserver(moved);
    sizes.observe(document.body);
    addEventListener('scroll', moved, { passive: true });
    addEventListener('resize', moved);
    document.addEventListener('visibilitychange', moved);
    visualViewport?.addEventListener('resize', moved);
    visualViewport?.addEventListener('scroll', moved);
    moved();
    return () => {
      clearTimeout(settled);
      cancelAnimationFrame(frame);
      sizes.disconnect();
      removeEventListener('scroll', moved);
      removeEventListener('resize', moved);
      document.removeEventListener('visibilitychange', moved);
      visualViewport?.removeEventListener('resize', moved);
      visualViewport?.removeEventListener('scroll', moved);
    };
  }, [text]);

  return { isRead: read === text, isZoomed, beginning, end };
}

/** The part of the window in which text is visible: without the bars and the keyboard. Null while it is zoomed in. */
function visibleHeight(): { top: number; bottom: number } | null {
  const { scale, offsetTop, height } = visualViewport ?? {
    scale: 1,
    offsetTop: 0,
    height: innerHeight,
  };
  if (scale > ZOOMED) return null;
  const above = document.querySelector('.connection')?.getBoundingClientRect();
  const bar = document.querySelector('nav')?.getBoundingClientRect();
  const main = document.querySelector('main')?.getBoundingClientRect();
  // In a small window the bar may cover most of the text, so it is recognized by its position and not by its size.
  const isBeside = bar === undefined || (main !== undefined && bar.right <= main.left);
  return {
    top: Math.max(0, offsetTop, above !== undefined && above.height > 0 && above.top <= 0 ? above.bottom : 0),
    bottom: Math.min(innerHeight, offsetTop + height, isBeside ? innerHeight : bar.top),
  };
}
