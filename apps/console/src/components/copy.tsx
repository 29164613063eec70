import { ActionIcon, Group, VisuallyHidden } from '@mantine/core';
import { useEffect, useState } from 'react';
import { CheckIcon, CopyIcon } from './icons.js';
import { showToast } from '../toasts.js';
import classes from './copy.module.css';

const SHOWN_MS = 2_000;

/** Browsers give pages without TLS no clipboard. */
const hasClipboard = (): boolean => (navigator as { readonly clipboard?: Clipboard }).clipboard !== undefined;

const copyText = async (text: string): Promise<boolean> => {
  if (hasClipboard()) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // The person or the browser has forbidden it. The message below says what to do.
    }
  }
  showToast({ kind: 'error', message: 'The browser does not let this page copy. Select the text and copy it.' });
  return false;
};

type CopyButtonProps = {
  /** A function for a long text, which is then made when it is copied. */
  readonly text: string | (() => string);
  /** Names what it copies. */
  readonly label: string;
};

/** A button that copies a text. */
export const CopyButton = ({ text, label }: CopyButtonProps) => {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async () => setCopied(await copyText(typeof text === 'string' ? text : text()));
  return (
    // A tooltip of Mantine would be 4 kB, on almost every screen.
    <ActionIcon variant="subtle" color="gray" aria-label={label} title={label} onClick={() => void copy()}>
      {isCopied ? <CheckIcon size={16} /> : <CopyIcon size={16} />}
      <VisuallyHidden role="status">{isCopied ? 'Copied' : ''}</VisuallyHidden>
    </ActionIcon>
  );
};

/** Code or a command to paste. */
export const CodeBlock = ({ code, label }: { readonly code: string; readonly label: string }) => (
  <div className={classes['block']}>
    {/* It can scroll, so the keyboard must reach it. */}
    <pre className={classes['code']} tabIndex={0} role="region" aria-label={label}>
      <code>{code}</code>
    </pre>
    <div className={classes['button']}>
      <CopyButton text={code} label={`Copy ${label}`} />
    </div>
  </div>
);

/** An id with a button that copies it. */
export const CopyableId = ({ id }: { readonly id: string }) => (
  <Group gap={4} wrap="nowrap">
    <code>{id}</code>
    <CopyButton text={id} label="Copy the id" />
  </Group>
);
