import { Modal, type ModalProps } from '@mantine/core';
import { useFocusReturn } from './focus-return.js';

/** A dialog that is open while it is on the screen. */
export const Dialog = (props: Omit<ModalProps, 'opened'>) => {
  useFocusReturn();
  return <Modal opened closeButtonProps={{ 'aria-label': 'Close' }} {...props} />;
};
