import { Text, TextInput } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { FormDialog, type FormDialogProps } from './form-dialog.js';

type ConfirmDialogProps = Pick<FormDialogProps, 'title' | 'action' | 'onClose'> & {
  readonly change: FormDialogProps['form'];
  /** A text that the person types before the button can be pressed, such as the name of what is deleted. */
  readonly typed?: string;
  /** The effect of the change, and the things that stay. */
  readonly children: ReactNode;
  readonly onConfirm: () => void;
};

/** A dialog that a person confirms before something is removed. */
export const ConfirmDialog = ({ change, typed = '', children, onConfirm, ...dialog }: ConfirmDialogProps) => {
  const [text, setText] = useState('');
  const needsText = typed !== '';
  return (
    <FormDialog
      {...dialog}
      form={change}
      isDangerous
      isCancelFocused={!needsText}
      isDisabled={text !== typed}
      intro={
        <Text size="sm" component="div">
          {children}
        </Text>
      }
      onSubmit={() => {
        if (text === typed) onConfirm();
      }}
    >
      {needsText && (
        <TextInput
          label={`Type ${typed} to confirm`}
          data-autofocus
          autoComplete="off"
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
      )}
    </FormDialog>
  );
};
