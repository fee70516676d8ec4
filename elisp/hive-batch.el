;;; hive-batch.el --- Answering several questions with one decision  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A batch is a list of questions that get the same answer: those that the
;; sidecar calls alike, such as four agents that want to run the same command,
;; or those that the human has marked.  Each question gets an answer of its
;; own, and one line reports the outcome of all of them.
;;
;; Only what was displayed is approved: permissions are allowed together
;; only once the whole text of each was on the screen.  Lines that all of them
;; share are shown once, and the others below the name of their agent.

;;; Code:

(require 'cl-lib)
(require 'hive-display)
(require 'hive-human)
(require 'hive-messages)
(require 'hive-model)
(require 'hive-notify)
(require 'hive-outbox)
(require 'hive-read)
(require 'hive-respond)
(require 'hive-rpc)
(require 'hive-text)
(require 'seq)
(require 'subr-x)

;;;; The text of a batch

(defun hive-batch--common (lists)
  "Return how many elements at the beginning of each of LISTS are equal."
  (let ((first (car lists)) (count 0))
    (while (and first (cl-every (lambda (list) (equal (car first) (nth count list))) (cdr lists)))
      (setq first (cdr first) count (1+ count)))
    count))

(defun hive-batch--parts (lists)
  "Return what LISTS begin with, what each has of its own, and what they end with.
These three together are the whole of each list."
  (let* ((begin (hive-batch--common lists))
         (rests (mapcar (lambda (list) (nthcdr begin list)) lists))
         (end (hive-batch--common (mapcar #'reverse rests))))
    (list (seq-take (car lists) begin)
          (mapcar (lambda (rest) (butlast rest end)) rests)
          (last (car rests) end))))

(defun hive-batch-lines (batch &optional width)
  "Return the lines below the question of BATCH, a list of alike questions.
Every line of each question is among them; with WIDTH, the first ones
of each, as `hive-read-below' returns them."
  (pcase-let ((`(,begin ,own ,end)
               (hive-batch--parts (mapcar (lambda (prompt) (split-string (hive-read-below prompt width) "\n" t))
                                  batch))))
    (let* ((names (mapcar (lambda (prompt)
                            (string-trim (concat (hive-text-agent prompt 24) " "
                                                 (hive-human-label prompt))))
                          batch))
           (width (apply #'max (mapcar #'string-width names))))
      (append begin
              (cond ((null (cdr batch)) nil)
                    ((cl-every #'null own)
                     (hive-batch--agents batch))
                    (t (cl-loop for name in names for lines in own
                                append (hive-batch--own-lines name width lines))))
              end))))

(defun hive-batch--own-lines (name width lines)
  "Return LINES below NAME, which is WIDTH columns wide at most."
  (cl-loop for line in (or lines '(""))
           for lead = name then ""
           collect (concat "  " (propertize lead 'face 'bold)
                           (make-string (- width (string-width lead)) ?\s)
                           ;; A note is not indented.
                           (if (string-match-p "\\`[^ ]" line) "  " "") line)))

(defun hive-batch--agents (batch)
  "Return lines with the names of the agents of BATCH, each once, and none broken."
  (let* ((names (delete-dups (mapcar #'hive-text-agent batch)))
         (parts (mapcar (lambda (name)
                          (propertize (concat name (if (eq name (car (last names))) "" ",")) 'face 'bold))
                        names)))
    (split-string (seq-reduce (lambda (text part) (hive-display-flow text part " " "  "))
                              (cdr parts) (concat "  " (car parts)))
                  "\n")))

(defun hive-batch-count (batch)
  "Return how many agents ask the questions of BATCH, in words."
  (if (= (length batch) (length (delete-dups (mapcar #'hive-text-agent batch))))
      (hive-words "%d agents ask the same thing" (length batch))
    (hive-words "%d questions are alike" (length batch))))

(defun hive-batch-text (batch &optional width)
  "Return the text of BATCH, alike questions, without their options.
WIDTH is as for `hive-batch-lines'."
  (let ((prompt (car batch)))
    (concat (hive-permission-mark prompt)
            (hive-text-inert (plist-get prompt :question)) "\n"
            (mapconcat (lambda (line) (concat line "\n")) (hive-batch-lines batch width) ""))))

(defun hive-batch-heading (batch)
  "Return the line above BATCH: how many, their projects, the oldest age."
  (let ((projects (delete-dups (mapcar (lambda (prompt) (hive-text-line (plist-get prompt :project) 30))
                                       batch))))
    (format "%s  %s  %s" (hive-batch-count batch) (string-join projects ", ")
            (hive-text-age (car (sort (mapcar (lambda (prompt) (or (plist-get prompt :created_at) ""))
                                              batch)
                                      #'string<))))))

(defun hive-batch-all (batch)
  "Return the words for all questions of BATCH."
  (if (cddr batch) (hive-words "all %d" (length batch)) (hive-words "both")))

(defun hive-batch-fitting (batch fits)
  "Return the beginning of BATCH that can be answered together, or nil.
FITS is a function that returns non-nil if a list can be displayed in
full.  What is not fully loaded is left out."
  (let* ((whole (seq-take (cl-remove-if (lambda (prompt) (hive-rpc-true-p prompt :context_truncated))
                                        batch)
                          (frame-height)))
         (count (length whole)))
    (when (eq (car batch) (car whole))
      (while (and (> count 1) (not (funcall fits (seq-take whole count))))
        (setq count (1- count)))
      (and (> count 1) (seq-take whole count)))))

;;;; Sending

;; The answers of a batch are entries of the outbox like any other.  Their
;; outcomes are reported together, when the last of them is known.

(cl-defstruct (hive-batch-report (:constructor hive-batch-report-make) (:copier nil))
  "The outcomes of a batch: how many are still unknown, and what is known.
STORED has names of agents, OTHER sentences."
  open decision stored other)

(defun hive-batch-send (batch answer)
  "Answer each question of BATCH with ANSWER, a plist as of `hive-read-answer'.
On return the answers are on disk.  Nothing is sent unless each answer
may be given."
  (let* ((text (hive-respond-text answer))
         (requests (mapcar (lambda (prompt)
                             (cons prompt (hive-respond-params prompt (hive-batch--fitted prompt answer))))
                           batch))
         (report (hive-batch-report-make :open (length batch) :decision text))
         (sent 0))
    (condition-case oops
        (pcase-dolist (`(,prompt . ,params) requests)
          (hive-outbox-add (plist-get prompt :ask_id) "hivemind-response" params text report
                           (hive-respond-undo-delay prompt (hive-batch--fitted prompt answer)))
          (setq sent (1+ sent)))
      ((error quit)
       (setf (hive-batch-report-open report)
             (- (hive-batch-report-open report) (- (length batch) sent)))
       (if (zerop sent) (signal (car oops) (cdr oops))
         (hive-fail "Only %d of %d answers were queued; the others could not be saved (%s)"
                    sent (length batch) (error-message-string oops)))))
    (if (hive-outbox-delayed) (run-hooks 'hive-respond-delayed-hook)
      (hive-say "%d answers queued" (length batch)))))

(defun hive-batch--fitted (prompt answer)
  "Return ANSWER to PROMPT: words that are the label of an option choose it."
  (let ((decision (plist-get answer :decision)))
    (if (or (plist-get answer :selected) (not (member decision (hive-values :label (plist-get prompt :options)))))
        answer
      (append (list :selected (vector decision)) answer))))

(defun hive-batch--stored (entry result)
  "Note RESULT, the outcome of ENTRY of a batch; report when all are known."
  (let ((report (hive-outbox-entry-report entry))
        (agent (hive-text-title result 30)))
    (when (hive-batch-report-p report)
      (cond ((hive-rpc-true-p result :accepted)
             (push agent (hive-batch-report-stored report)))
            ((hive-rpc-true-p result :late)
             (push
              (hive-words "your answer to %s came late and is stored"
                          agent) (hive-batch-report-other report)))
            (t (push (hive-words "%s was answered first by %s: %s" agent (hive-text-by result 30)
                                 (hive-text-line (plist-get result :decision) 40))
                     (hive-batch-report-other report))))
      (hive-batch--known report))))

(defun hive-batch--rejected (entry)
  "Note that ENTRY of a batch was rejected; report when all are known."
  (let ((report (hive-outbox-entry-report entry)))
    (when (hive-batch-report-p report)
      (push (hive-words "your answer to %s could not be stored: %s"
                        (hive-outbox-entry-agent entry 40)
                        (hive-text-line (hive-outbox-entry-text entry) 100))
            (hive-batch-report-other report))
      (hive-batch--known report))))

(defun hive-batch--taken-back (entry)
  "Expect no outcome of ENTRY of a batch, which was taken back."
  (let ((report (hive-outbox-entry-report entry)))
    (when (hive-batch-report-p report) (hive-batch--known report))))

(defun hive-batch--known (report)
  "Announce REPORT if it is complete."
  (when (zerop (cl-decf (hive-batch-report-open report)))
    (let* ((stored (reverse (hive-batch-report-stored report)))
           (other (reverse (hive-batch-report-other report)))
           (decision (hive-text-line (hive-batch-report-decision report) 60))
           (names (hive-text-line (string-join (delete-dups (copy-sequence stored)) ", ") 120)))
      (cond ((not (or stored other)))   ; all were taken back
            ((null other)
             (hive-announce "Answered %d: %s (stored for %s)" (length stored) decision names))
            (stored
             (hive-announce "Answered %d: %s (stored for %s); %s" (length stored) decision names
                            (string-join other "; ")))
            (t (hive-announce "None of your answers was accepted: %s" (string-join other "; ")))))))

(add-hook 'hive-outbox-stored-functions #'hive-batch--stored)
(add-hook 'hive-outbox-rejected-functions #'hive-batch--rejected)
(add-hook 'hive-outbox-taken-back-functions #'hive-batch--taken-back)

;;;; One decision in the minibuffer

;; The choices are the options that all questions have, and free text if all of
;; them allow it.  Another buffer shows each question in full in the meantime.

(defun hive-batch--options (batch)
  "Return the options that all questions of BATCH have, as a list.
A description is kept only if it is the same everywhere."
  (cl-loop for option in (append (plist-get (car batch) :options) nil)
           for label = (plist-get option :label)
           when (cl-every (lambda (prompt) (member label (hive-values :label (plist-get prompt :options)))) batch)
           collect (if (cl-every (lambda (prompt) (member option (append (plist-get prompt :options) nil)))
                                 batch)
                       option
                     (list :label label))))

(defun hive-batch-question (batch)
  "Return one question in place of all of BATCH, for `hive-read-answer'.
Signal a `user-error' if no answer would fit them all."
  (let* ((common (hive-batch--options batch))
         (first (car batch))
         (free (cl-every (lambda (prompt) (hive-rpc-true-p prompt :allow_free_text)) batch)))
    (unless (or common free)
      (hive-fail "These questions have no option in common; answer them one by one"))
    (list :ask_id (plist-get first :ask_id)
          :batch batch
          :lead (hive-batch--lead batch)
          :question (if (hive-prompts-alike-p batch)
                        (plist-get first :question)
                      (mapconcat (lambda (prompt)
                                   (concat (hive-text-agent prompt 20) ": "
                                           (hive-text-line (plist-get prompt :question) 60)))
                                 batch (hive-mark " · ")))
          :options (vconcat common)
          :multi_select (if (and (hive-prompts-alike-p batch) (hive-rpc-true-p first :multi_select))
                            t
                          :json-false)
          :allow_free_text (if free t :json-false))))

(defun hive-batch--lead (batch)
  "Return the beginning of the minibuffer prompt for BATCH."
  (let ((permissions (cl-count-if #'hive-permission-p batch)))
    (hive-words "Answer %s%s: " (hive-count (length batch) "question")
                (if (> permissions 0)
                    (propertize (hive-words ", including %s"
                                            (hive-count permissions "PERMISSION" "PERMISSIONS"))
                                'face 'hive-warning)
                  ""))))

(defun hive-batch--demand (batch answer)
  "Signal a `user-error' if ANSWER could permit what was not displayed of BATCH.
Then show all of BATCH in a buffer, where it can be read."
  (when (cl-some (lambda (prompt)
                   (hive-permission-unread-p prompt (hive-batch--fitted prompt answer)))
                 batch)
    (hive-batch-show batch)
    (hive-fail
     "Not sent: scroll through all of them without skipping, then answer again")))

(defun hive-batch--confirm (batch answer)
  "Let the human confirm ANSWER if it may permit something of BATCH at once."
  (hive-batch--demand batch answer)
  (let ((permissions (cl-count-if (lambda (prompt)
                                    (let ((answer (hive-batch--fitted prompt answer)))
                                      (and (hive-permission-allows-p prompt answer)
                                           (not (hive-respond-undo-delay prompt answer)))))
                                  batch)))
    (unless (or (zerop permissions)
                (y-or-n-p
                 (hive-words "Answer %s with \"%s\"? " (hive-count permissions "permission")
                             (hive-text-line (hive-respond-text answer) 60))))
      (hive-fail 'still-all-pending))))

(defun hive-batch-answer (batch)
  "Read one decision, and answer each question of BATCH with it.
A decision that may grant a permission is confirmed first."
  (setq batch (mapcar #'hive-respond-open batch))
  (mapc #'hive-respond-claim batch)
  (unwind-protect
      (let ((question (hive-batch-question batch)))
        (hive-read-with-draft question
          (lambda ()
            (let ((answer (hive-read-answer question)))
              (when (hive-respond-empty-p answer)
                (hive-fail 'still-all-pending))
              (hive-batch--confirm batch answer)
              (hive-batch-send batch answer)
              'answered))))
    (mapc #'hive-respond-release batch)))

;;;; All of a batch in a buffer

(defvar-local hive-batch--current nil "The batch that this buffer shows.")

(defun hive-batch-insert (batch)
  "Insert the whole text of BATCH with its options, and note when it is displayed."
  (let ((begin (point)))
    (if (hive-prompts-alike-p batch)
        (insert (hive-batch-heading batch) "\n\n" (hive-batch-text batch) "\n"
                (hive-read-options-text (car batch)) "\n")
      (dolist (prompt batch)
        (insert (propertize (concat (hive-text-agent prompt 40) (hive-mark " · ")
                                    (hive-text-line (plist-get prompt :project) 40))
                            'face 'bold)
                "\n" (hive-batch-text (list prompt))
                (hive-read-options-text prompt) "\n\n")))
    (when-let* ((permissions (cl-remove-if-not #'hive-permission-p batch)))
      (hive-display-track (car permissions) begin (point) (cdr permissions)))))

(defconst hive-batch-keys
  '(((menu-answer ("a" "answer all of them" hive-batch-answer-shown))))
  "The keys of the buffer of a batch, see `hive-keys-map'.")

(defvar hive-batch-mode-map
  (hive-keys-map 'hive-batch-mode hive-batch-keys "RET" #'hive-batch-answer-shown)
  "Keymap of `hive-batch-mode'.")

(define-derived-mode hive-batch-mode special-mode "Hive-Batch"
  "Major mode of the buffer that shows several questions in full.
\\<hive-batch-mode-map>\\[hive-batch-answer-shown] answers all of them with one decision.
\\{hive-batch-mode-map}"
  :interactive nil
  (hive-text-set-up))

(defun hive-batch-show (batch)
  "Show each question of BATCH in full, in one buffer."
  (with-current-buffer (get-buffer-create "*hive batch*")
    (hive-batch-mode)
    (hive-batch--print (current-buffer) batch)
    (hive-text-to-top)
    (pop-to-buffer (current-buffer)))
  (dolist (prompt batch)
    (when (hive-rpc-true-p prompt :context_truncated)
      (hive-batch--fetch prompt))))

(defun hive-batch--print (buffer batch)
  "Print BATCH in BUFFER."
  (with-current-buffer buffer
    (setq hive-batch--current batch)
    (hive-text-reprint
     (lambda ()
       (hive-batch-insert batch)
       (when (cl-some (lambda (prompt) (hive-rpc-true-p prompt :context_truncated)) batch)
         (insert (hive-words 'context-loading)))
       (hive-wrap-like-lines (point-min) (point-max))))))

(defun hive-batch--fetch (prompt)
  "Fetch all of PROMPT, and print it in the buffer of its batch."
  (hive-read-fetch
   prompt
   (lambda (whole)
     (when-let* ((buffer (get-buffer "*hive batch*")))
       (hive-batch--print
        buffer
        (mapcar (lambda (one)
                  (if (equal (plist-get one :ask_id) (plist-get whole :ask_id)) whole one))
                (buffer-local-value 'hive-batch--current buffer)))))))

(defun hive-batch-answer-shown ()
  "Answer all questions of this buffer with one decision."
  (interactive)
  (let ((buffer (current-buffer)))
    (hive-batch-answer hive-batch--current)
    (hive-text-close buffer)))

(provide 'hive-batch)
;;; hive-batch.el ends here
