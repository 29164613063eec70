import { Modal, type ModalProps } from '@mantine/core';
import { useFocusReturn } from './focus-return.js';

type DialogProps = Omit<ModalProps, 'opened'> & {
  /** Only its own buttons close it, because what it shows, or is about to show, cannot be shown again. */
  readonly isLocked?: boolean;
};

/** A dialog that is open while it is on the screen. */
export const Dialog = ({ isLocked = false, ...props }: DialogProps) => {
  useFocusReturn();
  return (
    <Modal
      opened
      closeButtonProps={{ 'aria-label': 'Close' }}
      closeOnClickOutside={!isLocked}
      closeOnEscape={!isLocked}
      withCloseButton={!isLocked}
      {...props}
    />
  );
};
