import '@mantine/dropzone/styles.layer.css';
import { Button, Stack } from '@mantine/core';
import { Dropzone } from '@mantine/dropzone';
import { useRef, type ReactNode } from 'react';
import classes from './file-drop.module.css';

type FileDropProps = {
  /** Names the files, such as `the files of the release`. */
  readonly label: string;
  /** The label of the button that opens the dialog of the browser. */
  readonly action: string;
  readonly isMultiple?: boolean;
  readonly isBusy: boolean;
  readonly onFiles: (files: readonly File[]) => void;
  /** The text above the button. */
  readonly children: ReactNode;
};

/** An area in which people drop files, with a button that chooses them. */
export const FileDrop = ({ label, action, isMultiple = true, isBusy, onFiles, children }: FileDropProps) => {
  const open = useRef<() => void>(null);
  return (
    <Dropzone
      openRef={open}
      multiple={isMultiple}
      activateOnClick={false}
      activateOnKeyboard={false}
      disabled={isBusy}
      onDrop={onFiles}
      className={classes['drop']}
      inputProps={{ 'aria-label': label.charAt(0).toUpperCase() + label.slice(1) }}
      attributes={{ root: { role: 'group', 'aria-label': `Drop ${label} here` } }}
      enablePointerEvents
      tabIndex={-1}
    >
      <Stack gap="xs" align="center">
        {children}
        <Button variant="default" disabled={isBusy} onClick={() => open.current?.()}>
          {action}
        </Button>
      </Stack>
    </Dropzone>
  );
};
