import type { AppDto, PricingPlanDto } from "@ehr-marketplace/client/marketplace";
import { Button, Group, Modal, Skeleton, Stack, Text } from "@mantine/core";
import { formatCount, formatMoney, formatMonth } from "../../storefront/format.ts";
import { practiceName } from "../practice-name.ts";
import { ErrorNotice } from "../states/notices.tsx";
import { QueryView } from "../states/query-view.tsx";
import { texts } from "../texts.ts";
import { isPriced, toQuoteInput, useQuote } from "./price-card.tsx";
import { describeTerms, type ReadTerms } from "./terms.ts";

const t = texts.subscribe;

export interface ConfirmDialogProps {
  isOpen: boolean;
  alias: string;
  app: AppDto;
  plan: PricingPlanDto;
  terms: ReadTerms;
  canHaveTrial: boolean;
  isSending: boolean;
  error: unknown;
  onConfirm: () => void;
  onClose: () => void;
}

/** Says once more who subscribes to what, for how much. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { isOpen, alias, app, plan, terms, canHaveTrial, isSending, error, onConfirm, onClose } = props;
  const input = toQuoteInput(plan, terms, canHaveTrial);
  const quote = useQuote(app.slug, input);
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={t.confirmTitle(app.name)}
      closeButtonProps={{ "aria-label": texts.close }}
    >
      <Stack>
        <Text>{t.confirm(practiceName(alias), app.name, plan.name)}</Text>
        <Text>{t.confirmPrice(describeTerms(plan, terms.isValid ? terms.quantity : undefined))}</Text>
        {input !== undefined && (
          <QueryView query={quote} skeleton={<Skeleton height={24} />}>
            {({ currency, firstMonth, fullMonth }) => (
              <>
                <Text>{t.confirmFirst(formatMonth(firstMonth.month), formatMoney(firstMonth.total, currency))}</Text>
                {canHaveTrial && plan.trialDays > 0 && (
                  <Text>
                    {t.confirmTrial(formatCount(plan.trialDays, "day", "days"), formatMoney(fullMonth.total, currency))}
                  </Text>
                )}
              </>
            )}
          </QueryView>
        )}
        <Text c="dimmed">{t.confirmAfter}</Text>
        {error !== null && <ErrorNotice error={error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {texts.back}
          </Button>
          <Button onClick={onConfirm} loading={isSending} disabled={!isPriced(input, quote)} data-autofocus>
            {t.button}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
