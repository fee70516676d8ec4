;;; hive-rules.el --- Rules that answer permissions  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; `hive-rules' lists the rules that answer permissions in your place, with
;; their use, and what the history suggests.  `hive-rule-for' makes a rule
;; from a permission.  A rule is shown together with what it would have
;; answered, and RET writes what is shown into your own file.  The sidecar
;; makes, tries and writes rules; this file displays them.

;;; Code:

(require 'cl-lib)
(require 'hive-display)
(require 'hive-messages)
(require 'hive-model)
(require 'hive-notify)
(require 'hive-respond)
(require 'hive-rpc)
(require 'hive-text)
(require 'subr-x)

;;;; Faces and rows

(defface hive-rule-allow '((t :inherit hive-success))
  "A rule that allows." :group 'hive-faces)

(defface hive-rule-deny '((t :inherit hive-critical))
  "A rule that denies." :group 'hive-faces)

(defface hive-rule-against '((t :inherit hive-warning))
  "A decision of the human that a rule would have made differently." :group 'hive-faces)

(defun hive-rules--decision (rule)
  "Return the decision of RULE, coloured."
  (let ((decision (hive-text-line (plist-get rule :decision) 6)))
    (propertize decision 'face (if (equal decision "allow") 'hive-rule-allow 'hive-rule-deny))))

(defun hive-rules--what (rule)
  "Return what RULE is about, on one line."
  (let ((input (plist-get rule :input)))
    (concat (hive-text-line (plist-get rule :tool) 40)
            (if input (concat " " (hive-text-line input)) ""))))

(defun hive-rules--project (rule)
  "Return the project of RULE in short."
  (let ((project (plist-get rule :project)))
    (if project (hive-text-line (file-name-nondirectory (directory-file-name project)) 20)
      (hive-words 'rule-everywhere))))

;;;; One rule and what it would have done

(defconst hive-rule--name "*hive rule*" "The name of the buffer of one rule.")

(defvar-local hive-rule--rule nil "The rule shown here, as the sidecar takes it.")
(defvar-local hive-rule--inputs nil "Other patterns for its input.")
(defvar-local hive-rule--trial nil "The result of trying it on the history, or nil while that is computed.")
(defvar-local hive-rule--prompt nil "The permission from which it was made, or nil.")
(defvar-local hive-rule--written nil "Non-nil if the rule is in the file already.")

(defconst hive-rule-keys
  '((("Rule"
      ("RET" "write" hive-rule-write)
      ("e" "edit input" hive-rule-edit)
      ("x" "end" hive-rule-set-end)
      ("p" "project" hive-rule-toggle-project))))
  "The keys of the buffer of a rule, see `hive-keys-map'.")

(defvar hive-rule-mode-map
  (hive-keys-map 'hive-rule-mode hive-rule-keys)
  "Keymap of `hive-rule-mode'.")

(define-derived-mode hive-rule-mode special-mode "Hive-Rule"
  "Major mode of the buffer that shows one rule before it is written.
\\<hive-rule-mode-map>\\[hive-keys] is a menu of its keys.
\\{hive-rule-mode-map}"
  :interactive nil
  (hive-text-set-up #'hive-rule--try))

(defun hive-rule--field (name value)
  "Insert the field NAME of a rule with its VALUE, unless that is nil."
  (when value
    (insert (propertize (format "  %-9s" (hive-words name)) 'face 'hive-shadow) value "\n")))

(defun hive-rule--insert-calls (heading entries face)
  "Insert HEADING, then each of ENTRIES on a line, in FACE."
  (when (append entries nil)
    (insert "\n" (propertize heading 'face 'bold) "\n")
    (dolist (call (append entries nil))
      (insert (propertize (format "  %s  %s  " (hive-text-local (plist-get call :at) "%F")
                                  (hive-text-line (plist-get call :agent) 20))
                          'face 'hive-shadow)
              (propertize (hive-text-line (plist-get call :text) 200) 'face face)
              "\n"))))

(defun hive-rule--insert-trial (trial)
  "Insert TRIAL: what the rule would have answered."
  (when-let* ((problem (plist-get trial :problem)))
    (insert "\n" (propertize (hive-text-line problem 400) 'face 'hive-critical) "\n"))
  (insert "\n"
          (hive-words "In the last %s days it would have answered" (plist-get trial :days)) "\n  ")
  (let ((denied (plist-get trial :denied)))
    (insert
     (hive-words "%s that you allowed, %s that you denied, %s that you answered in a terminal,\n  %s that nobody answered; %s were answered by a rule."
                 (plist-get trial :allowed)
                 (propertize (number-to-string denied)
                             'face (if (> denied 0) 'hive-rule-against 'default))
                 (plist-get trial :elsewhere) (plist-get trial :unanswered)
                 (plist-get trial :by_rules))
     "\n"))
  (hive-rule--insert-calls (hive-words "You decided differently") (plist-get trial :counter_examples)
                           'hive-rule-against)
  (hive-rule--insert-calls (hive-words "Examples") (plist-get trial :examples) 'default))

(defun hive-rule--print ()
  "Print the rule of this buffer."
  (setq header-line-format (unless hive-rule--written (hive-keys-line hive-rule-keys)))
  (hive-text-reprint #'hive-rule--insert))

(defun hive-rule--insert ()
  "Insert the rule of this buffer, and what it would have answered."
  (let ((rule hive-rule--rule))
    (if (not rule)
        (insert (hive-words 'loading))
      (insert (propertize (if hive-rule--written (hive-words "This rule answers in your place:")
                            (hive-words "A rule, not written yet.  It would answer in your place:"))
                          'face 'hive-shadow)
              "\n\n  " (hive-rules--decision rule)
              (make-string (max 1 (- 9 (length (plist-get rule :decision)))) ?\s)
              (hive-text-inert (plist-get rule :tool)) "\n")
      (hive-rule--field "input"
                        (if (plist-get rule :input) (hive-text-inert (plist-get rule :input))
                          (hive-words "with any arguments")))
      (hive-rule--field "project"
                        (if (plist-get rule :project) (hive-text-inert (plist-get rule :project))
                          (hive-words 'rule-everywhere)))
      (dolist (more '((:source . "source") (:machine . "machine") (:note . "note")))
        (when (plist-get rule (car more))
          (hive-rule--field (cdr more) (hive-text-inert (plist-get rule (car more))))))
      (hive-rule--field "ends" (or (plist-get rule :expires) (hive-words 'rule-never)))
      (hive-rule--field "name" (and (plist-get rule :name)
                                        (hive-text-inert (plist-get rule :name))))
      (if hive-rule--trial (hive-rule--insert-trial hive-rule--trial)
        (insert "\n" (hive-words 'loading) "\n")))
    (hive-wrap-like-lines (point-min) (point-max))))

(defun hive-rule--show (rule prompt &optional written)
  "Go to a buffer of RULE, made from PROMPT or nil; WRITTEN if it is in the file."
  ;; It needs a whole window: what is written must have been seen.
  (pop-to-buffer-same-window (get-buffer-create hive-rule--name))
  (hive-rule-mode)
  (setq hive-rule--rule rule hive-rule--prompt prompt hive-rule--written written
        hive-rule--inputs nil hive-rule--trial nil)
  (hive-rule--print)
  (hive-text-to-top))

(defun hive-rule--sent (rule)
  "Return RULE with the fields that the sidecar takes."
  (cl-loop for key in '(:decision :tool :input :project :source :machine :note :expires :name)
           when (plist-get rule key) append (list key (plist-get rule key))))

(defun hive-rule--try (&optional before)
  "Ask the sidecar what the rule of this buffer would have answered.
If it refuses the rule, show the rule BEFORE again, unless that is nil."
  (setq hive-rule--trial nil)
  (hive-rule--print)
  (hive-rpc-fetch
   'rule/try (list :rule (hive-rule--sent hive-rule--rule))
   :timeout 60
   :then (lambda (result)
           (setq hive-rule--trial (plist-get result :trial))
           (hive-rule--print))
   :failure 'from-sidecar
   :problem (lambda (&rest _)
              (when before
                (setq hive-rule--rule before)
                (hive-rule--try)))))

(defun hive-rule--change (field value)
  "Set FIELD of the rule of this buffer to VALUE, and try it again."
  (let ((before hive-rule--rule))
    (setq hive-rule--rule (plist-put (copy-sequence before) field value))
    (hive-rule--try before)))

(defun hive-rule--demand ()
  "Signal an error unless the rule of this buffer can be changed."
  (unless hive-rule--rule (hive-fail 'loading))
  (when hive-rule--written
    (hive-fail "This rule is in your file already; revoke it in M-x hive-rules, or edit the file")))

(defun hive-rule-edit ()
  "Edit the pattern of the rule in the minibuffer.
\\<minibuffer-local-map>\\[next-history-element] inserts what else the permission suggests."
  (interactive)
  (hive-rule--demand)
  (let* ((now (plist-get hive-rule--rule :input))
         (typed (string-trim (read-from-minibuffer
                              (hive-words "Input of the rule (M-n: suggestions): ") now nil nil nil
                              (cl-remove now (append hive-rule--inputs nil) :test #'equal)))))
    ;; The old name described the old pattern.
    (setq hive-rule--rule (plist-put (copy-sequence hive-rule--rule) :name nil))
    (hive-rule--change :input (unless (string-empty-p typed) typed))))

(defun hive-rule-set-end ()
  "Set the day on which the rule ends."
  (interactive)
  (hive-rule--demand)
  (let ((typed (string-trim (read-string (hive-words "Ends on (2027-03-31; empty: never): ")
                                         (plist-get hive-rule--rule :expires)))))
    (hive-rule--change :expires (unless (string-empty-p typed) typed))))

(defvar-local hive-rule--own-project nil "The project that the rule had first.")

(defun hive-rule-toggle-project ()
  "Let the rule apply in every project, or only in its own again."
  (interactive)
  (hive-rule--demand)
  (let ((now (plist-get hive-rule--rule :project)))
    (when now (setq hive-rule--own-project now))
    (hive-rule--change :project (unless now hive-rule--own-project))))

(defun hive-rule-write ()
  "Write the rule of this buffer into your file, trust.json.
If it was made from a permission that was displayed in full, allow that
one, too."
  (interactive)
  (hive-rule--demand)
  (unless hive-rule--trial (hive-fail 'loading))
  (when (plist-get hive-rule--trial :problem)
    (hive-fail "Not written: %s" (hive-text-line (plist-get hive-rule--trial :problem) 300)))
  (let* ((prompt (and hive-rule--prompt (hive-prompt-unanswered-p hive-rule--prompt)
                      (hive-display-digest hive-rule--prompt)
                      hive-rule--prompt))
         (what (hive-rules--what hive-rule--rule))
         (buffer (current-buffer)))
    (unless (y-or-n-p (if prompt
                          (hive-words "Allow this, and let the rule \"%s\" answer in your place from now on? "
                                      what)
                        (hive-words "Let the rule \"%s\" answer in your place? " what)))
      (hive-fail 'rule-nothing-written))
    (hive-rpc-request
     'rule/add (list :rule (hive-rule--sent hive-rule--rule))
     :success (lambda (result) (hive-rule--added buffer (plist-get result :rule) prompt))
     :error (hive-announcing 'from-sidecar))))

(defun hive-rule--added (buffer rule prompt)
  "Report RULE, now in the file, and close BUFFER, where it was displayed.
Unless PROMPT is nil, allow it."
  (hive-announce "Added the rule \"%s\"; it ends: %s" (hive-text-line (plist-get rule :name) 60)
                 (or (plist-get rule :expires) (hive-words 'rule-never)))
  (when (and prompt (hive-prompt-unanswered-p prompt))
    (hive-respond-send prompt (list :decision "Allow" :selected ["Allow"])))
  (hive-text-close buffer)
  (hive-rules--refresh-shown))

(defun hive-rule-for (prompt)
  "Show the rule that the permission PROMPT suggests.
It says what the rule would have answered in the past.  Nothing is
written before you say so."
  (unless (hive-permission-p prompt) (hive-fail "Rules answer permissions only"))
  (hive-rule--show nil prompt)
  (hive-rpc-fetch
   'rule/propose (list :ask_id (plist-get prompt :ask_id))
   :timeout 60
   :then (lambda (result)
           (setq hive-rule--rule (plist-get result :rule)
                 hive-rule--inputs (plist-get result :inputs)
                 hive-rule--trial (plist-get result :trial))
           (hive-rule--print))
   :failure 'from-sidecar
   :problem (lambda (_sentence _err) (hive-text-close (current-buffer)))))

;;;; All rules

(defconst hive-rules--name "*hive rules*" "The name of the list's buffer.")

(defvar-local hive-rules--list nil "The rules and proposals, as the sidecar sent them.")

(defconst hive-rules-keys
  '((("Rules"
      ("RET" "visit" hive-rules-visit)
      ("t" "try on the history" hive-rules-try)
      ("k" "revoke" hive-rules-revoke)
      ("d" "dismiss" hive-rules-dismiss)
      ("g" menu-list-refresh revert-buffer)
      ("n" "next" hive-part-next)
      ("p" "previous" hive-part-previous))))
  "The keys of the list of rules, see `hive-keys-map'.")

(defvar hive-rules-mode-map
  (hive-keys-map 'hive-rules-mode hive-rules-keys)
  "Keymap of `hive-rules-mode'.")

(define-derived-mode hive-rules-mode special-mode "Hive-Rules"
  "Major mode of the list of rules.
\\<hive-rules-mode-map>\\[hive-keys] is a menu of its keys.
\\{hive-rules-mode-map}"
  :interactive nil
  (hive-text-set-up #'hive-rules-refresh t)
  (setq header-line-format (hive-keys-line hive-rules-keys))
  ;; Nothing is sent when a rule has answered.
  (hive-rpc-while-shown hive-ages-pause #'hive-rules-refresh t))

(defun hive-rules--row (decision what project &rest cells)
  "Return the row of DECISION, WHAT, PROJECT and CELLS.
In a narrow window WHAT is shorter, so that the end of a rule, and its
line in the file, are on the screen."
  (let ((width (max 16 (min 38 (- (or (hive-wrap-room) 94) 56)))))
    (apply #'format "  %-5s  %s  %s  %5s  %5s  %s\n" decision
           (truncate-string-to-width what width nil ?\s (hive-mark "…"))
           (truncate-string-to-width project 13 nil ?\s (hive-mark "…"))
           cells)))

(defun hive-rules--insert-row (thing &rest cells)
  "Insert CELLS as the row of THING, a rule or a proposal."
  (hive-text-part (or (plist-get thing :rule_id) (plist-get thing :key))
    (insert (propertize (apply #'hive-rules--row cells) 'hive-rule thing))))

(defun hive-rules--insert-rule (rule)
  "Insert the row of RULE."
  (hive-rules--insert-row
   rule
   (hive-rules--decision rule)
   (hive-rules--what rule)
   (hive-rules--project rule)
   (plist-get rule :uses)
   (hive-text-age (plist-get rule :last_used_at))
   (concat (if (hive-rpc-true-p rule :expired) (propertize (hive-words "ended") 'face 'hive-warning)
             (or (plist-get rule :expires) (hive-words 'rule-never)))
           (if (plist-get rule :line) (format "  :%d" (plist-get rule :line)) ""))))

(defun hive-rules--insert-proposal (proposal)
  "Insert the row of PROPOSAL."
  (let ((rule (plist-get proposal :draft)))
    (hive-rules--insert-row
     proposal
     (hive-rules--decision rule)
     (hive-rules--what rule)
     (hive-rules--project rule)
     (plist-get proposal :allowed) "" (hive-words "proposed"))))

(defun hive-rules--heading (text)
  "Insert TEXT as a heading."
  (insert (propertize text 'face 'bold) "\n"))

(defun hive-rules--print ()
  "Print the list; point stays on its line."
  (hive-text-reprint #'hive-rules--insert)
  (unless (get-text-property (point) 'hive-rule) (hive-text-part-go)))

(defun hive-rules--insert ()
  "Insert the proposals and the rules."
  (let* ((list hive-rules--list)
         (rules (append (plist-get list :rules) nil))
         (proposals (append (plist-get list :proposals) nil)))
    (if (not list) (insert (hive-words 'loading))
      (dolist (problem (append (plist-get list :problems) nil))
        (insert (propertize (hive-text-inert problem) 'face 'hive-critical) "\n"))
      (when proposals
        (hive-rules--heading (hive-words "Proposed, because you always allowed it"))
        (mapc #'hive-rules--insert-proposal proposals)
        (insert "\n"))
      (hive-rules--heading
       (hive-words "Rules in %s" (abbreviate-file-name (or (plist-get list :path) ""))))
      (if (not rules) (insert (hive-words "  None yet.  Press A at a permission to make one.") "\n")
        (insert (propertize
                 (hive-rules--row "" (hive-words "Rule") (hive-words 'column-project)
                                  (hive-words "Used") (hive-words "Last")
                                  (hive-words "Ends"))
                 'face 'hive-shadow))
        (mapc #'hive-rules--insert-rule rules)))))

(defun hive-rules--at-point ()
  "Return the rule or the proposal on this line."
  (or (get-text-property (line-beginning-position) 'hive-rule)
      (hive-fail "There is no rule on this line")))

(defun hive-rules-refresh ()
  "Fetch the rules and print them."
  (hive-rpc-fetch
   'rule/list nil
   :then (lambda (result)
           (setq hive-rules--list result)
           (hive-rules--print))
   :failure 'from-sidecar))

(defun hive-rules--refresh-shown ()
  "Refresh the list if it exists."
  (hive-call-in hive-rules--name #'hive-rules-refresh))

(defun hive-rules-visit ()
  "Visit the rule on this line in its file; open a proposal."
  (interactive)
  (let* ((thing (hive-rules--at-point)) (draft (plist-get thing :draft)))
    (if draft
        (progn (hive-rule--show draft nil)
               (hive-rule--try))
      (find-file-other-window (plist-get hive-rules--list :path))
      (goto-char (point-min))
      (forward-line (1- (or (plist-get thing :line) 1))))))

(defun hive-rules-try ()
  "Show what the rule or the proposal on this line would have answered."
  (interactive)
  (let* ((thing (hive-rules--at-point)) (draft (plist-get thing :draft)))
    (if draft (hive-rules-visit)
      (hive-rule--show thing nil t)
      (hive-rule--try))))

(defun hive-rules-revoke ()
  "Revoke the rule on this line: it is removed from your file.
Its text is in the kill ring afterwards.  A rule that denies is
revoked only after you have confirmed it."
  (interactive)
  (let ((rule (hive-rules--at-point)))
    (unless (plist-get rule :rule_id) (hive-fail "This is a proposal; d dismisses it"))
    (when (and (equal "deny" (plist-get rule :decision))
               (not (y-or-n-p
                     (hive-words "Revoke the rule that denies \"%s\"? " (hive-rules--what rule)))))
      (hive-fail 'rule-nothing-written))
    (hive-rpc-request
     'rule/revoke (list :rule_id (plist-get rule :rule_id))
     :success (lambda (_)
                (kill-new (json-encode (hive-rule--sent rule)))
                (hive-announce "Revoked the rule \"%s\"; its text is in the kill ring"
                               (hive-text-line (plist-get rule :name) 60))
                (hive-rules--refresh-shown))
     :error (hive-announcing 'from-sidecar))))

(defun hive-rules-dismiss ()
  "Dismiss the proposal on this line; it will not be proposed again."
  (interactive)
  (let ((proposal (hive-rules--at-point)))
    (unless (plist-get proposal :draft) (hive-fail "This is a rule; k revokes it"))
    (hive-rpc-request
     'rule/dismiss (list :key (plist-get proposal :key))
     :success (lambda (_)
                (hive-announce "Dismissed the proposal; it will not be proposed again")
                (hive-rules--refresh-shown))
     :error (hive-announcing 'from-sidecar))))

;;;###autoload
(defun hive-rules ()
  "List the rules that answer permissions in your place.
Each is listed with how often it has answered, when last, and when it
ends.  Above them is what the history suggests."
  (interactive)
  (hive-sidecar-demand)
  (with-current-buffer (hive-buffer hive-rules--name #'hive-rules-mode)
    (hive-rules--print)
    (hive-rules-refresh)
    (pop-to-buffer (current-buffer))))

(provide 'hive-rules)
;;; hive-rules.el ends here
