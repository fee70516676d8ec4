;;; hive-prompt-events.el --- What happened to a question, in words  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; The log names events for programs; here is what they are called where a
;; human reads them, with the time of the human's own zone.

;;; Code:

(require 'hive-rpc)
(require 'hive-text)

(defun hive-prompt-events--popup (data)
  "Return what became of a popup, from the DATA of its event."
  (let ((outcome (hive-text-line (plist-get data :outcome) 20))
        (reason (plist-get data :reason)))
    (concat "popup: " (if (equal outcome "suppressed") "held back" outcome)
            (if (stringp reason)
                ;; Of what is held back the reason is a name, of a failure a sentence.
                (concat ", " (if (equal outcome "suppressed")
                                 (string-replace "_" " " (hive-text-line reason 40))
                               (hive-text-line reason 200)))
              ""))))

(defun hive-prompt-events--words (type data)
  "Return what an event of TYPE, with DATA, is called."
  (let ((by (hive-text-line (or (plist-get data :by) "somebody") 40))
        (said (hive-text-line (or (plist-get data :decision) "") 80)))
    (pcase type
      ("prompt/created" "asked")
      ("prompt/offered" "an Emacs was told")
      ("prompt/seen" "seen")
      ("prompt/claimed" (concat "taken up by " by))
      ("prompt/released" (concat "let go by " by))
      ("prompt/responded" (format "answered by %s: %s" by said))
      ("prompt/late_response" (format "answered late by %s: %s" by said))
      ("prompt/lost_response" (format "another answer, by %s, came second: %s" by said))
      ("prompt/amended" (format "answer corrected by %s: %s" by said))
      ("prompt/expired" "expired")
      ("prompt/cancelled" (concat "cancelled by " by))
      ("prompt/handed" (if (hive-rpc-true-p data :repeated) "answer handed to its agent again"
                         "answer handed to its agent"))
      ("prompt/collected" "answer collected by its agent")
      ("prompt/snoozed" "put away, or called back")
      ("prompt/escalated" "escalated: it is for everybody now")
      ("prompt/moved" "moved to the agent's next session")
      ("prompt/orphaned" (if (hive-rpc-true-p data :orphaned) "its session is gone"
                           "its session is back"))
      ("prompt/popup" (hive-prompt-events--popup data))
      ;; What a newer sidecar calls by a name that is not known here.
      (_ (hive-text-line type 40)))))

(defun hive-prompt-events-line (event)
  "Return EVENT, a plist of the wire, as a line: its time and what it was."
  (let ((seconds (hive-text-seconds (plist-get event :at))))
    (format "%s  %s"
            (if seconds (format-time-string "%Y-%m-%d %H:%M:%S" seconds) "")
            (hive-prompt-events--words (plist-get event :type) (plist-get event :data)))))

(defconst hive-prompt-events--receipts
  '((:created_at . "asked") (:offered_at . "offered") (:seen_at . "seen")
    (:responded_at . "answered") (:handed_at . "handed") (:collected_at . "collected"))
  "The receipts of a question, in their order.")

(defun hive-prompt-events-receipts (prompt)
  "Return the receipts that PROMPT has, each with its age, in one line."
  (mapconcat (lambda (receipt)
               (format "%s %s ago" (cdr receipt)
                       (hive-text-age (plist-get prompt (car receipt)))))
             (seq-filter (lambda (receipt) (plist-get prompt (car receipt)))
                         hive-prompt-events--receipts)
             " · "))

(provide 'hive-prompt-events)
;;; hive-prompt-events.el ends here
