import { Button, Tooltip, type ButtonProps } from '@mantine/core';
import { useId } from 'react';

/** A button that the person cannot press. It can have the focus, and describes why. */
export const RefusedButton = ({ reason, ...props }: ButtonProps & { readonly reason: string }) => {
  const id = useId();
  return (
    <>
      <Tooltip label={reason} multiline maw={280} events={{ hover: true, focus: true, touch: true }}>
        <Button
          {...props}
          data-disabled
          aria-disabled="true"
          aria-describedby={id}
          onClick={(event) => event.preventDefault()}
        />
      </Tooltip>
      <span id={id} hidden>
        {reason}
      </span>
    </>
  );
};
