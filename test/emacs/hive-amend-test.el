;;; hive-amend-test.el --- Correcting an answer  -*- lexical-binding: t; -*-

;; Tags: not-consumed provenance

(require 'hive-amend)
(require 'hive-batch)
(require 'hive-doctor)
(require 'hive-next)
(require 'hive-outbox-test-help)
(require 'hive-list)
(require 'hive-test-help)

(defconst hive-amend-test-options
  [(:label "Yes" :description nil) (:label "No" :description nil) (:label "Later" :description nil)])

(defun hive-amend-test-answered (&rest fields)
  "Let Emacs know of a prompt with FIELDS that Ada answered; return its id."
  (let ((id (plist-get (hive-test-call
                        'fake/ask (append fields '(:status "responded" :decision "No" :by "Ada")))
                       :ask_id)))
    (hive-test-wait 5 (hive-model-prompt id))
    id))

(defun hive-amend-test-amendments ()
  "Return the corrections that the fake sidecar has stored, oldest first."
  (delq nil (mapcar (lambda (record) (plist-get record :amendment)) (hive-test-state))))

(defun hive-amend-test-stored (count)
  "Wait until COUNT corrections are stored and none is pending; return the last."
  (hive-test-wait 5 (and (= count (length (hive-amend-test-amendments)))
                         (null (hive-outbox-entries 'pending))))
  (car (last (hive-amend-test-amendments))))

(defmacro hive-amend-test-typing (comment inputs &rest body)
  "Run BODY while completion is answered by INPUTS and a comment by COMMENT.
COMMENT is a function of what the minibuffer holds at first.  A
free answer is read like a choice."
  (declare (indent 2) (debug t))
  `(let ((comment ,comment))
     (hive-test-with-inputs ,inputs
       (let ((typed (symbol-function 'read-string)))
         (cl-letf (((symbol-function 'y-or-n-p) #'always) ; free text is given on purpose
                   ((symbol-function 'read-string)
                    (lambda (prompt &optional initial &rest rest)
                      (if (not (string-prefix-p "Comment" prompt))
                          (apply typed prompt initial rest)
                        (unless comment (ert-fail "asked for a comment"))
                        (funcall comment (or initial ""))))))
           ,@body)))))

(defun hive-amend-test-first ()
  "Return the first line that completion offers for correction."
  (hive-amend--line (car (cl-remove-if-not #'hive-amend--mine-p (hive-prompts-settled)))))

(defmacro hive-amend-test-said (pattern)
  "Wait until a line that matches PATTERN is queued or was shown."
  `(hive-test-wait 5 (cl-find-if (lambda (line) (string-match-p ,pattern line))
                                 (cons (or hive-notify--said "") hive-notify--lines))))

(ert-deftest hive-amend-another-answer-in-free-text ()
  (hive-test-connected
    (let ((id (hive-amend-test-answered)))
      (hive-amend-test-typing nil (list (hive-amend-test-first) "yes, but slowly: ä 🐝")
        (hive-amend))
      (let ((stored (hive-amend-test-stored 1)))
        (should (equal id (plist-get stored :ask_id)))
        (should (equal "yes, but slowly: ä 🐝" (plist-get stored :decision)))
        (should (equal "Ada" (plist-get stored :by)))
        (should (equal "store-1" (plist-get stored :store_id)))
        (should (plist-get stored :response_id))
        (should-not (plist-member stored :selected))
        (should-not (plist-member stored :comment)))
      (hive-amend-test-said "Corrected: yes, but slowly.* (stored)")
      (should-not (hive-outbox-test-files)))))

(ert-deftest hive-amend-words-beside-several-options-are-kept-as-the-comment ()
  (hive-test-connected
    (hive-amend-test-answered :options hive-amend-test-options :multi_select t)
    (hive-amend-test-typing nil (list (hive-amend-test-first) "Yes" "Later" "after the release")
      (hive-amend))
    (let ((stored (hive-amend-test-stored 1)))
      (should (equal ["Yes" "Later"] (plist-get stored :selected)))
      (should (equal "after the release" (plist-get stored :comment))))))

(ert-deftest hive-amend-the-comment-of-the-first-answer-is-shown-and-kept ()
  (hive-test-connected
    (hive-amend-test-answered :options hive-amend-test-options :comment "mind the dog")
    (let ((shown nil))
      (hive-amend-test-typing (lambda (initial) (push initial shown) initial)
          (list (hive-amend-test-first) "Yes")
        (hive-amend))
      (should (equal shown '("mind the dog")))
      (let ((stored (hive-amend-test-stored 1)))
        (should (equal ["Yes"] (plist-get stored :selected)))
        (should (equal "mind the dog" (plist-get stored :comment)))))))

(ert-deftest hive-amend-a-comment-goes-only-when-the-human-deletes-it ()
  (hive-test-connected
    (hive-amend-test-answered :options hive-amend-test-options :comment "mind the dog")
    (hive-amend-test-typing (lambda (_) " ") (list (hive-amend-test-first) "Yes") (hive-amend))
    (should-not (plist-member (hive-amend-test-stored 1) :comment))))

(ert-deftest hive-amend-old-comment-and-new-words-are-both-kept ()
  (hive-test-connected
    (hive-amend-test-answered :options hive-amend-test-options :multi_select t :comment "mind the dog")
    (hive-amend-test-typing #'identity (list (hive-amend-test-first) "Yes" "and the cat") (hive-amend))
    (should (equal "mind the dog\nand the cat" (plist-get (hive-amend-test-stored 1) :comment)))))

(ert-deftest hive-amend-a-comment-on-request ()
  (hive-test-connected
    (hive-amend-test-answered)
    (hive-amend-test-typing (lambda (initial) (concat initial "why not"))
        (list (hive-amend-test-first) "yes")
      (hive-amend t))
    (should (equal "why not" (plist-get (hive-amend-test-stored 1) :comment)))))

(ert-deftest hive-amend-a-late-answer-too ()
  (hive-test-connected
    (let ((id (plist-get (hive-test-call
                          'fake/ask '(:status "expired" :by nil
                                      :late_response (:decision "No" :by "Ada" :comment "sorry")))
                         :ask_id)))
      (hive-test-wait 5 (hive-model-prompt id))
      (should (string-match-p "→ No  (came late)" (hive-amend-test-first)))
      (hive-amend-test-typing #'identity (list (hive-amend-test-first) "Yes") (hive-amend))
      (should (equal "sorry" (plist-get (hive-amend-test-stored 1) :comment)))
      (hive-amend-test-said "Corrected: Yes (stored)"))))

(ert-deftest hive-amend-offers-ones-own-answers-only ()
  (hive-test-connected
    (hive-amend-test-answered :by "Bob")
    (hive-amend-test-answered :status "expired" :by nil :decision nil
                              :late_response '(:decision "No" :by "Bob"))
    (hive-amend-test-answered :status "cancelled" :decision nil)
    (should-error (hive-test-with-inputs nil (hive-amend)) :type 'user-error)))

(ert-deftest hive-amend-two-answers-that-look-alike-are-told-apart ()
  (hive-test-connected
    (let ((older (hive-amend-test-answered)))
      (hive-amend-test-answered)
      (hive-amend-test-typing nil (list (concat (hive-amend-test-first) " <2>") "Yes") (hive-amend))
      (should (equal older (plist-get (hive-amend-test-stored 1) :ask_id))))))

(ert-deftest hive-amend-an-empty-answer-corrects-nothing ()
  (hive-test-connected
    (hive-amend-test-answered)
    (should-error (hive-amend-test-typing nil (list (hive-amend-test-first) " ") (hive-amend))
                  :type 'user-error)
    (should-not (hive-outbox-entries 'pending))))

(ert-deftest hive-amend-a-correction-of-what-was-handed-over-is-a-message-that-quotes-it ()
  (hive-test-connected
    (hive-amend-test-answered :question "Drop\nthe table?" :handed_at "2026-01-01T00:00:00.000Z")
    (should (string-match-p "already delivered" (hive-amend-test-first)))
    (let (told)
      (cl-letf (((symbol-function 'hive-model-session) (lambda (_id) '(:handle "reviewer")))
                ((symbol-function 'hive-mention) (lambda (&rest message) (setq told message))))
        (hive-amend-test-typing nil (list "" "Keep it.") (hive-amend))
        (should (equal '("reviewer" "This corrects an answer of mine.
> Drop
> the table?
> I answered: No

Keep it.")
                       told))
        ;; Without a word nothing is sent.
        (setq told nil)
        (should-error (hive-amend-test-typing nil (list "" " ") (hive-amend)) :type 'user-error)
        (should-not told)))))

(ert-deftest hive-amend-what-is-left-half-typed-for-an-agent-that-has-the-answer-is-there-again ()
  (hive-test-with-desk nil
    (let ((prompt (hive-test-prompt :ask_id "ask-1" :status "responded" :decision "No" :by "Ada"
                                    :handed_at "2026-01-01T00:00:00.000Z"))
          (offered nil) (end (lambda () (signal 'quit nil))))
      (cl-letf (((symbol-function 'hive-model-session) (lambda (_id) '(:handle "reviewer")))
                ((symbol-function 'hive-mention) #'ignore)
                ((symbol-function 'read-string)
                 (lambda (_prompt &optional initial &rest _)
                   (push initial offered)
                   (with-temp-buffer
                     (run-hooks 'minibuffer-setup-hook)
                     (insert (or initial "") "Keep it. ")
                     (run-hooks 'minibuffer-exit-hook)
                     (funcall end)
                     (buffer-string)))))
        (condition-case nil (hive-amend--tell prompt) (quit nil))
        (setq end #'ignore)
        (hive-amend--tell prompt)
        (hive-amend--tell prompt)
        (should (equal '(nil "Keep it. " nil) offered))))))

(ert-deftest hive-amend-refuses-an-answer-handed-to-a-session-that-has-ended ()
  (hive-test-connected
    (hive-amend-test-answered :handed_at "2026-01-01T00:00:00.000Z")
    (should-error (hive-amend-test-typing nil (list "") (hive-amend)) :type 'user-error)))

(ert-deftest hive-amend-without-a-choice-takes-the-newest ()
  (hive-test-connected
    (hive-amend-test-answered :question "Older?")
    (let ((newest (hive-amend-test-answered :question "Newer?")))
      (hive-amend-test-typing nil (list "" "Yes") (hive-amend))
      (should (equal newest (plist-get (hive-amend-test-stored 1) :ask_id))))))

(ert-deftest hive-amend-takes-the-question-at-point ()
  (hive-test-connected
    (let ((older (hive-amend-test-answered :question "Older?")))
      (hive-amend-test-answered :question "Newer?")
      (with-temp-buffer
        (setq hive-prompt-at-point-function (lambda () (hive-model-prompt older)))
        (hive-amend-test-typing nil (list "Yes") (hive-amend)))
      (should (equal older (plist-get (hive-amend-test-stored 1) :ask_id))))))

(ert-deftest hive-amend-knows-an-answer-as-soon-as-it-is-stored ()
  (hive-test-connected
    (let ((id (plist-get (hive-test-call 'fake/ask '(:question "Go?")) :ask_id)))
      (hive-test-wait 5 (hive-prompts))
      (cl-letf (((symbol-function 'hive-model--receive) #'ignore)) ; no news of it
        (hive-respond-send (car (hive-prompts)) '(:decision "yes"))
        (hive-test-wait 5 (null (hive-outbox-entries 'pending)))
        (should (equal (list id) (mapcar (lambda (prompt) (plist-get prompt :ask_id)) (hive-amend--known))))
        (should-not (hive-prompts))))))

;;;; Taking back what is held

(defconst hive-amend-test-permission
  '(:kind "permission" :question "Run make?" :options [(:label "Allow") (:label "Deny" :refuses t)]))

(defmacro hive-amend-test-holding (seconds questions &rest body)
  "Ask QUESTIONS, which were displayed, and run BODY with answers held for SECONDS."
  (declare (indent 2) (debug t))
  `(hive-test-with-desk nil
     (let ((hive-undo-seconds ,seconds))
       (hive-test-connect)
       (dolist (fields ,questions) (hive-test-call 'fake/ask fields))
       (hive-test-wait 5 (= (length (hive-prompts)) (length ,questions)))
       (mapc #'hive-display-whole (hive-prompts))
       ,@body)))

(defun hive-amend-test-allow ()
  "Allow the first question."
  (hive-respond-send (car (hive-prompts)) '(:decision "Allow" :selected ["Allow"])))

(defun hive-amend-test-crash ()
  "Forget the entries, as if Emacs had been killed, and take over what is on disk."
  (setq hive-outbox--entries nil)
  (when hive-outbox--timer (cancel-timer hive-outbox--timer))
  (setq hive-outbox--timer nil)
  (hive-outbox-connected))

(ert-deftest hive-undo-a-held-answer-is-on-disk-and-not-sent ()
  (hive-amend-test-holding 60 (list hive-amend-test-permission)
    (hive-amend-test-allow)
    (should (equal "hivemind-response" (plist-get (car (hive-outbox-read (hive-outbox-file))) :method)))
    (should-not (hive-prompts))
    (should-not (hive-test-answers))
    (should (string-match-p "\\`Allow will be sent to Claude-abc12 in 60 s; M-x hive-undo takes it back\\'"
                            (hive-amend-delayed-text (substitute-command-keys "\\[hive-undo]"))))
    (hive-undo)
    (should (= 1 (length (hive-prompts))))
    (should-not (hive-outbox-entries 'pending))
    (should-not (hive-outbox-test-files))
    ;; The same question can be given another answer.
    (hive-respond-send (car (hive-prompts)) '(:decision "Deny" :selected ["Deny"]))
    (hive-test-wait 5 (hive-test-answers))
    (should (equal '(["Deny"]) (mapcar (lambda (answer) (plist-get answer :selected)) (hive-test-answers))))))

(ert-deftest hive-undo-an-answer-that-is-not-taken-back-is-sent ()
  (hive-amend-test-holding 0.2 (list hive-amend-test-permission)
    (hive-amend-test-allow)
    (should-not (hive-test-answers))
    (hive-test-wait 5 (hive-test-answers))
    (should-not (hive-outbox-delayed))))

(ert-deftest hive-undo-an-answer-held-when-emacs-dies-is-sent-by-the-next-emacs ()
  (hive-amend-test-holding 60 (list hive-amend-test-permission)
    (hive-amend-test-allow)
    (hive-amend-test-crash)
    (hive-test-wait 5 (hive-test-answers))))

(ert-deftest hive-undo-an-answer-taken-back-is-not-sent-by-the-next-emacs ()
  (hive-amend-test-holding 60 (list hive-amend-test-permission '(:question "Else?"))
    ;; Another entry keeps the file from being emptied.
    (hive-test-call 'fake/plan '(:method "hivemind-response" :outcomes ["silence"]))
    (hive-respond-send (cadr (hive-prompts)) '(:decision "yes"))
    (hive-amend-test-allow)
    (hive-undo)
    (should (hive-outbox-test-files))
    (setq hive-outbox--sending nil)
    (hive-amend-test-crash)
    (hive-test-wait 5 (and (hive-test-answers) (null (hive-outbox-entries 'pending))))
    (should (equal '("yes") (mapcar (lambda (answer) (plist-get answer :decision)) (hive-test-answers))))))

(ert-deftest hive-undo-an-answer-held-when-hive-ends-is-sent ()
  (hive-amend-test-holding 60 (list hive-amend-test-permission)
    (hive-amend-test-allow)
    (hive-outbox-send-delayed)
    (hive-test-wait 5 (hive-test-answers))))

(ert-deftest hive-undo-with-a-full-disk-sends-nothing-and-says-so ()
  (hive-amend-test-holding 60 (list hive-amend-test-permission)
    (hive-amend-test-allow)
    (cl-letf (((symbol-function 'hive-outbox-append) (lambda (&rest _) (error "No space"))))
      (should (string-match-p "Allow for Claude-abc12 is not sent, but .*(No space)"
                              (cadr (should-error (hive-undo) :type 'user-error)))))
    (hive-outbox-send-delayed)
    (hive-outbox-flush)
    (should-not (hive-amend-test-due))
    (should-not (hive-test-answers))))

(defun hive-amend-test-due ()
  "Return the entries that would be sent within the hour."
  (cl-remove-if-not (lambda (entry) (< (hive-outbox--due entry) (+ 3600 (hive-now))))
                    (hive-outbox-entries 'pending)))

(ert-deftest hive-undo-holds-only-answers-that-allow-by-default ()
  (let ((permission (apply #'hive-test-prompt :ask_id "held" hive-amend-test-permission))
        (allow '(:decision "Allow" :selected ["Allow"])) (deny '(:decision "Deny" :selected ["Deny"])))
    (let ((hive-undo-seconds 3))
      (should (= 3 (hive-respond-undo-delay permission allow)))
      (should-not (hive-respond-undo-delay permission deny))
      (should-not (hive-respond-undo-delay (hive-test-prompt) '(:decision "yes")))
      ;; Another human is about to answer, or time is short.
      (should-not (hive-respond-undo-delay (append '(:claimed_by "Bob") permission) allow))
      (should-not (hive-respond-undo-delay (append (list :expires_at (hive-text-before -4)) permission) allow)))
    (let ((hive-undo-seconds '((answer . 5) (refuse . 2))))
      (should-not (hive-respond-undo-delay permission allow))
      (should (= 2 (hive-respond-undo-delay permission deny)))
      (should (= 5 (hive-respond-undo-delay (hive-test-prompt) '(:decision "yes")))))
    (let ((hive-undo-seconds 0)) (should-not (hive-respond-undo-delay permission allow)))))

(ert-deftest hive-undo-in-the-list-u-takes-back-what-is-held-and-otherwise-unmarks ()
  (hive-amend-test-holding 60 (list hive-amend-test-permission '(:question "Else?"))
    (save-window-excursion
      (unwind-protect
          (progn
            (hive-list)
            (hive-amend-test-allow)
            (should (string-suffix-p "; u takes it back" hive-amend--said))
            (should (= 1 (length (hive-prompts))))
            (hive-list--print)
            (goto-char (hive-list--position (plist-get (car (hive-prompts)) :ask_id)))
            (call-interactively (key-binding "m"))
            (call-interactively (key-binding "u"))
            (should (= 2 (length (hive-prompts))))
            (should-not (hive-outbox-delayed))
            ;; With nothing held it is the key that unmarks.
            (should (hive-list--marked))
            (hive-list--print)
            (goto-char (hive-list--position (plist-get (car (hive-list--marked)) :ask_id)))
            (call-interactively (key-binding "u"))
            (should-not (hive-list--marked)))
        (kill-buffer "*hive*")))))

(ert-deftest hive-undo-takes-back-a-batch-together ()
  (hive-amend-test-holding 60 (list (append '(:agent "a" :alike "m") hive-amend-test-permission)
                                    (append '(:agent "b" :alike "m") hive-amend-test-permission)
                                    (append '(:agent "c") hive-amend-test-permission))
    (let ((batch (hive-prompts-alike (car (hive-prompts)) (hive-prompts))))
      (hive-respond-send (nth 2 (hive-prompts)) '(:decision "Allow" :selected ["Allow"]))
      (hive-batch-send batch '(:decision "Allow" :selected ["Allow"]))
      (should (= 3 (length (hive-outbox-delayed))))
      (hive-undo)
      (should (equal '("a" "b") (mapcar (lambda (prompt) (plist-get prompt :agent)) (hive-prompts))))
      (should (= 1 (length (hive-outbox-delayed)))))))

(ert-deftest hive-undo-in-hive-next-asks-again ()
  (hive-amend-test-holding 60 (list (append '(:created_at "2026-01-01") hive-amend-test-permission)
                                    '(:question "Else?" :created_at "2026-01-02"))
    (let ((keys (list ?1 ?u ?2 ?q)) (shown nil))
      (cl-letf (((symbol-function 'hive-keys-read)
                 (lambda (text _new _harmless below &rest _)
                   (push (concat text (funcall below)) shown)
                   (pop keys)))
                ((symbol-function 'hive-display-room) (lambda () '(80 . 30))))
        (hive-next))
      (setq shown (nreverse shown))
      ;; One key allows it: it can be taken back.
      (should (string-match-p "Else\\?\\(?:.\\|\n\\)*Allow will be sent to Claude-abc12 in" (nth 1 shown)))
      (should (string-match-p "Run make\\?" (nth 2 shown)))
      (should (string-match-p "Else\\?" (nth 3 shown)))
      (hive-test-wait 5 (hive-test-answers))
      (should (equal '(["Deny"]) (mapcar (lambda (answer) (plist-get answer :selected)) (hive-test-answers)))))))

(ert-deftest hive-undo-in-hive-next-is-about-the-last-answer-in-the-buffer-of-another-question-too ()
  (hive-test-connected
    (let ((earlier (hive-amend-test-answered :responded_at "2026-01-01T00:00:00.000Z"))
          (last (hive-amend-test-answered :responded_at "2026-01-02T00:00:00.000Z"))
          (keys (list ?u ?q)))
      (hive-test-call 'fake/ask '(:question "Else?"))
      (hive-test-wait 5 (hive-prompts))
      (save-window-excursion
        (hive-prompt-show (hive-model-prompt earlier))
        (cl-letf (((symbol-function 'hive-keys-read) (lambda (&rest _) (pop keys)))
                  ((symbol-function 'hive-display-room) (lambda () '(80 . 30))))
          (hive-amend-test-typing nil (list (hive-amend-test-first) "Yes")
            (hive-next))))
      (should (equal last (plist-get (hive-amend-test-stored 1) :ask_id))))))

(ert-deftest hive-undo-after-the-last-question-u-is-still-read ()
  (hive-amend-test-holding 60 (list hive-amend-test-permission)
    (let ((keys (list ?1 ?2)) (after (list nil ?u)))
      (cl-letf (((symbol-function 'hive-keys-read) (lambda (&rest _) (pop keys)))
                ((symbol-function 'read-event) (lambda (&rest _) (pop after)))
                ((symbol-function 'hive-display-room) (lambda () '(80 . 30))))
        (hive-next)))
    (hive-test-wait 5 (hive-test-answers))
    (should (equal ["Deny"] (plist-get (car (hive-test-answers)) :selected)))))

(ert-deftest hive-undo-after-the-last-question-no-key-types-into-the-file ()
  (hive-amend-test-holding 60 (list hive-amend-test-permission)
    (pcase-dolist (`(,typed . ,given-back) '(((?x ?1 ?\r ?\t ?\d ?s ?q) . nil)
                                             ((?\e) . nil)
                                             ((?x ?\C-x) . (?\C-x))))
      (let ((keys (list ?1)) (typed (copy-sequence typed)) (unread-command-events nil)
            (hive-next--raw nil))
        (cl-letf (((symbol-function 'hive-keys-read) (lambda (&rest _) (pop keys)))
                  ((symbol-function 'hive-next--read-event) (lambda (_) (pop typed)))
                  ((symbol-function 'hive-display-room) (lambda () '(80 . 30))))
          (hive-next))
        (should (equal given-back unread-command-events))
        (should-not typed)
        (should (= 1 (length (hive-outbox-delayed)))))
      (hive-undo))))

(ert-deftest hive-next-the-countdown-below-the-next-question-runs-and-goes ()
  (let ((below (list "" "\n3 s" "\n3 s" "\n2 s" "")) (shown nil) (running nil))
    (cl-letf (((symbol-function 'hive-every)
               (lambda (_seconds function) (setq running function) (run-at-time 1000 nil #'ignore)))
              ((symbol-function 'hive-display-draw) (lambda (text) (push text shown) #'always))
              ((symbol-function 'read-key) (lambda () (dotimes (_ 3) (funcall running)) ?1)))
      (hive-keys-read "Else?" nil nil (lambda () (or (pop below) ""))))
    (should (equal '("Else?" "Else?\n3 s" "Else?\n2 s") (reverse shown)))))

;;;; Through the outbox

(ert-deftest hive-amend-is-on-disk-before-the-message-and-survives-the-sidecar ()
  (hive-test-connected
    (hive-amend-test-answered :comment "mind the dog")
    (hive-test-call 'fake/plan '(:method "prompt/amend" :outcomes ["die"]))
    (setq hive-rpc--delay 0.1)
    (let ((real (symbol-function 'message)) (on-disk nil))
      (cl-letf (((symbol-function 'message)
                 (lambda (format &rest args)
                   (when (member "Correction queued" args)
                     (setq on-disk (hive-outbox-read (hive-outbox-file))))
                   (apply real format args))))
        (hive-amend-test-typing #'identity (list (hive-amend-test-first) "Yes") (hive-amend)))
      (should (equal "prompt/amend" (plist-get (car on-disk) :method))))
    (hive-test-wait 10 (hive-amend-test-amendments))
    (should (equal "mind the dog" (plist-get (hive-amend-test-stored 1) :comment)))))

(ert-deftest hive-amend-that-came-too-late-keeps-every-word-and-says-so ()
  (hive-test-connected
    (let ((id (hive-amend-test-answered :options hive-amend-test-options :multi_select t))
          (kill-ring nil))
      ;; The answer is handed over while the human types.
      (hive-amend-test-typing nil
          (list (hive-amend-test-first) "Yes"
                (lambda ()
                  (hive-test-call 'fake/change
                                  (list :ask_id id :handed_at "2026-01-01T00:00:00.000Z"))
                  "with all my words"))
        (hive-amend))
      (hive-test-wait 5 (hive-outbox-entries 'rejected))
      (let ((entry (car (hive-outbox-entries 'rejected))))
        (should (equal "prompt_not_amendable" (hive-outbox-entry-code entry)))
        (should (equal "with all my words" (plist-get (hive-outbox-entry-params entry) :comment))))
      (should (equal "Yes\nwith all my words" (car kill-ring)))
      (hive-amend-test-said "Your answer is unchanged: It was handed")
      (should (cl-find-if (lambda (check)
                            (string-match-p "Yes\nwith all my words" (hive-doctor-check-text check)))
                          (hive-doctor--outbox)))
      (should (hive-outbox-test-files))
      (should-not (hive-amend-test-amendments)))))

(ert-deftest hive-amend-again-while-the-first-correction-is-being-sent ()
  (hive-test-connected
    (hive-amend-test-answered :comment "one")
    (hive-sidecar-stop)
    (hive-amend-test-typing (lambda (initial) (concat initial ", two"))
        (list (hive-amend-test-first) "Yes")
      (hive-amend))
    (hive-amend-test-typing (lambda (initial) (concat initial ", three"))
        (list (hive-amend-test-first) "Later")
      (hive-amend))
    (hive-sidecar-start)
    (hive-amend-test-stored 2)
    (should (equal (mapcar (lambda (one) (cons (plist-get one :decision) (plist-get one :comment)))
                           (hive-amend-test-amendments))
                   '(("Yes" . "one, two") ("Later" . "one, two, three"))))))
