import { Component, type ReactNode } from "react";
import { Button } from "../components/button.js";
import { ErrorMessage } from "../components/error-message.js";
import { PageHeading } from "../components/page-heading.js";

interface State {
  readonly error: unknown;
}

/** Shows the error if a section fails to load or render. The navigation remains usable. */
export class SectionBoundary extends Component<{ readonly children: ReactNode }, State> {
  override state: State = { error: undefined };

  static getDerivedStateFromError(error: unknown): State {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return (
      <>
        <PageHeading title="This page failed" />
        <ErrorMessage title="The panel failed, or was updated while it was open" error={error}>
          <Button onPress={() => location.reload()}>Load the panel again</Button>
        </ErrorMessage>
      </>
    );
  }
}
