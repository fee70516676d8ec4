;;; hive-batch-test.el --- One decision for several questions  -*- lexical-binding: t; -*-

;; Tags: as-displayed one-winner

(require 'hive-test-help)

(require 'hive-batch)
(require 'hive-next)

(defconst hive-batch-test-options
  [(:label "Allow" :description "This once") (:label "Deny" :description nil :refuses t)])

(defun hive-batch-test-permission (agent directory &rest fields)
  "Return a permission of AGENT to install in DIRECTORY, with FIELDS."
  (append fields
          (list :kind "permission" :alike "install" :agent agent :question "Run npm install?"
                :context (format "    npm install\n\nTool: Bash\nDirectory: %s" directory)
                :options hive-batch-test-options)))

(defun hive-batch-test-three ()
  "Return the permissions of three agents that are alike."
  (list (hive-batch-test-permission "reviewer" "/home/a" :created_at "2026-01-01")
        (hive-batch-test-permission "tests" "/home/b" :created_at "2026-01-02")
        (hive-batch-test-permission "docs" "/home/c" :created_at "2026-01-03")))

(defun hive-batch-test-prompts (&rest fields)
  "Return prompts with each of FIELDS."
  (mapcar (lambda (one) (apply #'hive-test-prompt one)) fields))

(defun hive-batch-test-stored (count)
  "Wait until COUNT answers are stored and return them."
  (hive-test-wait 5 (and (= (length (hive-test-answers)) count)
                         (null (hive-outbox-entries 'pending))))
  (hive-test-answers))

(defmacro hive-batch-test-next (questions keys &rest body)
  "Ask QUESTIONS, run `hive-next' with KEYS, then BODY.
Within BODY, `shown' are the texts that were shown, in order, and
`said' the lines of the echo area, newest first."
  (declare (indent 2))
  `(hive-test-with-desk nil
     (let ((hive-drafts-directory (expand-file-name "drafts/" hive-test-temp))
           (keys ,keys) (shown nil) (said nil))
       (hive-test-connect)
       (dolist (fields ,questions) (hive-test-call 'fake/ask fields))
       (hive-test-wait 5 (= (length (hive-prompts)) (length ,questions)))
       (cl-letf (((symbol-function 'hive-keys-read)
                  (lambda (text &rest _) (push text shown) (or (pop keys) ?q)))
                 ((symbol-function 'hive-display-room) (lambda () '(80 . 30)))
                 ((symbol-function 'hive-notify-say)
                  (lambda (format &rest args) (push (apply #'format format args) said)))
                 ((symbol-function 'sit-for) #'ignore))
         (hive-next)
         (setq shown (nreverse shown))
         ,@body))))

;;;; Batches that are offered

(ert-deftest hive-respond-offers-a-batch-before-the-first-of-it ()
  (pcase-let ((`(,a ,b ,c ,d ,e) (hive-batch-test-prompts '(:alike "x") '(:alike nil) '(:alike "y") '(:alike "x")
                                                          '(:alike "z"))))
    (should (equal (list (append (list :batch (list a d)) a) a b c d e)
                   (hive-read--offered (list a b c d e))))))

(ert-deftest hive-respond-looks-at-each-question-a-few-times-only ()
  (let ((prompts (cl-loop for n below 300 collect (hive-test-prompt :alike (number-to-string (% n 150)))))
        (looks 0) (get (symbol-function 'plist-get)))
    (cl-letf (((symbol-function 'plist-get)
               (lambda (&rest args) (cl-incf looks) (apply get args))))
      (should (= 450 (length (hive-read--offered prompts)))))
    (should (<= looks 900))))

;;;; The text of a batch

(ert-deftest hive-batch-names-of-ten-agents-are-each-on-one-line ()
  (cl-letf (((symbol-function 'hive-display-room) (lambda () '(80 . 30))))
    (let* ((names (cl-loop for n from 1 to 10 collect (format "agent %d of the shop" n)))
           (lines (hive-batch-lines (mapcar (lambda (name) (hive-test-prompt :alike "x" :agent name)) names))))
      (should (equal (string-join names ", ") (substring-no-properties (mapconcat #'string-trim lines " "))))
      (dolist (line lines)
        (should (string-match-p "\\`  agent [0-9]+ .*shop,?\\'" line))
        (should (< (string-width line) 80))))))

(ert-deftest hive-batch-shows-what-is-common-once-and-each-difference-with-its-agent ()
  (should (equal '("      npm install" "  Tool: Bash"
                   "  reviewer  Directory: /home/a"
                   "  tests     Directory: /home/b"
                   "  docs      Directory: /home/c")
                 (mapcar #'substring-no-properties
                         (hive-batch-lines (apply #'hive-batch-test-prompts (hive-batch-test-three)))))))

(ert-deftest hive-batch-shows-a-note-apart-from-the-name-of-its-agent ()
  (let ((batch (hive-batch-test-prompts '(:agent "a" :context "same")
                                        '(:agent "bea" :context "same"
                                          :notes [(:text "b is slow" :at "2026-01-01T12:00:00.000Z")]))))
    (should (string-match-p "\\`  bea  The agent added at .*: b is slow\\'"
                            (nth 1 (hive-batch-lines batch))))))

(ert-deftest hive-batch-names-the-agents-if-nothing-differs ()
  (should (equal '("  a, b") (mapcar #'substring-no-properties
                                     (hive-batch-lines (hive-batch-test-prompts '(:agent "a") '(:agent "b")))))))

(ert-deftest hive-batch-what-arrives-leaves-point-and-windows-where-they-are ()
  (save-window-excursion
    (let* ((context (mapconcat #'number-to-string (number-sequence 1 200) "\n"))
           (batch (hive-batch-test-prompts (list :question "Go on?" :context context :alike "x" :context_truncated t)
                                           (list :question "Go on?" :context context :alike "x")))
           (arrive nil))
      (unwind-protect
          (cl-letf (((symbol-function 'hive-rpc-request)
                     (cl-function (lambda (_method _params &key success &allow-other-keys)
                                    (setq arrive success)))))
            (hive-batch-show batch)
            (set-buffer "*hive batch*")
            (should (= 1 (point)))
            (forward-line 100)
            (let ((other (split-window)) (line (line-number-at-pos)))
              (set-window-start other (save-excursion (forward-line 20) (point)))
              (set-window-point other (save-excursion (forward-line 30) (point)))
              (let ((start (line-number-at-pos (window-start other))))
                (funcall arrive (list :prompt (append (list :context_truncated :json-false) (car batch))))
                (should (= line (line-number-at-pos)))
                (should (= start (line-number-at-pos (window-start other))))
                (should (= (+ line 30) (line-number-at-pos (window-point other)))))))
        (when (get-buffer "*hive batch*") (kill-buffer "*hive batch*"))))))

(ert-deftest hive-batch-says-if-the-rest-of-a-question-cannot-be-fetched ()
  (hive-test-hearing said
    (hive-batch--fetch (hive-test-prompt))
    (hive-test-wait 5 said)
    (should (string-match-p "\\`Hive could not fetch the question: " (car said)))))

(ert-deftest hive-batch-leaves-out-no-line-of-any-permission ()
  (dotimes (seed 200)
    (random (format "lines %d" seed))
    (let* ((text (lambda ()
                   (string-join (cl-loop repeat (random 6) collect (string ?l (+ ?a (random 3)))) "\n")))
           (batch (cl-loop for agent in '("a" "b" "c") repeat (+ 2 (random 2))
                           collect (hive-test-prompt :kind "permission" :agent agent
                                                     :context (funcall text))))
           (parts (hive-batch--parts (mapcar (lambda (prompt) (split-string (hive-read-below prompt) "\n" t)) batch))))
      (cl-loop for prompt in batch for own in (nth 1 parts)
               do (should (equal (split-string (hive-read-below prompt) "\n" t)
                                 (append (nth 0 parts) own (nth 2 parts)))))
      (let ((shown (mapcar #'substring-no-properties (hive-batch-lines batch))))
        (dolist (prompt batch)
          (dolist (line (split-string (hive-read-below prompt) "\n" t))
            (should (cl-find-if (lambda (one) (string-suffix-p (string-trim line) one)) shown))))))))

;;;; With single keys

(ert-deftest hive-next-one-key-allows-all-that-were-displayed-with-a-digest-each ()
  (hive-batch-test-next (hive-batch-test-three) (list ?1 ?y)
    (let ((answers (hive-batch-test-stored 3)))
      (should (string-match-p "3 agents ask the same thing" (car shown)))
      (should (string-match-p "RET or y gives this answer to all 3" (nth 1 shown)))
      (should (= 2 (length shown)))
      (should (equal '("Allow" "Allow" "Allow") (mapcar (lambda (answer) (plist-get answer :decision)) answers)))
      (should (= 3 (length (delete-dups (mapcar (lambda (answer) (plist-get answer :displayed_digest))
                                                answers)))))
      (should (= 3 (length (delete-dups (mapcar (lambda (answer) (plist-get answer :response_id))
                                                answers))))))
    (should (equal '("Answered 3: Allow (stored for reviewer, tests, docs)") said))))

(ert-deftest hive-next-two-that-are-alike-are-both-of-them ()
  (hive-batch-test-next (butlast (hive-batch-test-three)) (list ?1 ?y)
    (should (string-match-p "these keys answer both" (car shown)))
    (should (string-match-p "gives this answer to both " (nth 1 shown)))
    (should (= 2 (length (hive-batch-test-stored 2))))))

(ert-deftest hive-next-shows-together-only-as-many-as-fit ()
  (hive-batch-test-next (hive-batch-test-three) nil
    (let ((text (cl-letf (((symbol-function 'hive-display-room) (lambda () '(200 . 50))))
                  (hive-next--batch-text (hive-prompts) nil 0))))
      (cl-letf (((symbol-function 'hive-display-room)
                 (lambda () (cons 200 (1- (+ 2 (length (split-string text "\n"))))))))
        (should (= 2 (length (hive-next--batch (hive-prompts))))))
      (cl-letf (((symbol-function 'hive-display-room) (lambda () '(80 . 5))))
        (should (= 1 (length (hive-next--batch (hive-prompts)))))))))

(ert-deftest hive-next-a-context-that-was-cut-is-not-in-a-batch ()
  (hive-batch-test-next (list (hive-batch-test-permission "a" "/a" :created_at "2026-01-01")
                              (hive-batch-test-permission "b" "/b" :created_at "2026-01-02"
                                                          :context_truncated t)
                              (hive-batch-test-permission "c" "/c" :created_at "2026-01-03"))
      (list ?1 ?y)
    (should (equal '("a" "c")
                   (mapcar (lambda (answer) (plist-get (hive-model-prompt (plist-get answer :ask_id)) :agent))
                           (hive-batch-test-stored 2))))))

(ert-deftest hive-next-a-star-shows-only-the-first-and-all-again ()
  (hive-batch-test-next (hive-batch-test-three) (list ?* ?* ?* ?2)
    (should (= 1 (length (hive-batch-test-stored 1))))
    (should (string-match-p "\\* all 3" (nth 1 shown)))
    (should (string-match-p "3 agents ask" (nth 2 shown)))
    ;; The other two are still offered together.
    (should (string-match-p "2 agents ask the same thing" (nth 4 shown)))))

(ert-deftest hive-next-a-skipped-batch-is-not-offered-again ()
  (hive-batch-test-next (append (hive-batch-test-three) (list '(:question "Else?" :created_at "2026-01-04")))
      (list ?\t ?q)
    (should (= 2 (length shown)))
    (should (string-match-p "Else\\?" (nth 1 shown)))))

(ert-deftest hive-next-questions-that-are-alike-are-answered-by-one-key ()
  (hive-batch-test-next (list '(:question "Commit?" :alike "c" :agent "a" :options [(:label "yes") (:label "no")])
                              '(:question "Commit?" :alike "c" :agent "b" :options [(:label "yes") (:label "no")]))
      (list ?2)
    (should (equal '(["no"] ["no"]) (mapcar (lambda (answer) (plist-get answer :selected))
                                            (hive-batch-test-stored 2))))))

(ert-deftest hive-next-questions-that-are-not-alike-come-one-by-one ()
  (hive-batch-test-next (list '(:question "One?" :alike "1") '(:question "Two?" :alike "2")) (list ?\t ?q)
    (should (= 2 (length shown)))))

;;;; The outcome of each

(ert-deftest hive-batch-one-line-reports-the-outcome-of-each ()
  (hive-batch-test-next (hive-batch-test-three) nil
    (let ((ids (mapcar (lambda (prompt) (plist-get prompt :ask_id)) (hive-prompts)))
          (batch (hive-prompts)))
      (mapc #'hive-display-whole batch)
      (hive-test-call 'fake/plan '(:method "hivemind-response"
                                   :outcomes ["" "" (:code -32002 :message "not_allowed: No.")]))
      ;; Bob is quicker with the second.
      (setq batch (copy-sequence batch))
      (hive-test-call 'fake/change (list :ask_id (nth 1 ids) :status "responded" :by "Bob" :decision "Deny"))
      (hive-batch-send batch '(:decision "Allow" :selected ["Allow"]))
      (hive-test-wait 5 said)
      (should (equal (concat "Answered 1: Allow (stored for reviewer); tests was answered first by Bob: Deny; "
                             "your answer to docs could not be stored: No.")
                     (car said)))
      (should-not (cdr said)))))

(ert-deftest hive-batch-nothing-is-sent-if-one-was-not-displayed ()
  (hive-batch-test-next (hive-batch-test-three) nil
    (let ((batch (copy-sequence (hive-prompts))))
      (clrhash hive-display--whole)
      (mapc #'hive-display-whole (cdr batch))
      (cl-letf (((symbol-function 'hive-prompt-show) #'ignore))
        (should-error (hive-batch-send batch '(:decision "Allow" :selected ["Allow"])) :type 'user-error))
      (should-not (hive-outbox-entries 'pending))
      (should-not (hive-test-answers)))))

(ert-deftest hive-batch-says-how-many-are-queued-when-the-disk-is-full ()
  (hive-batch-test-next (hive-batch-test-three) nil
    (let ((real (symbol-function 'hive-outbox-append)) (left 2) (batch (copy-sequence (hive-prompts))))
      (mapc #'hive-display-whole batch)
      (cl-letf (((symbol-function 'hive-outbox-append)
                 (lambda (file record)
                   (when (and (equal "added" (plist-get record :entry)) (< (cl-decf left) 0))
                     (error "No space"))
                   (funcall real file record))))
        (should (string-match-p "Only 2 of 3 answers were queued"
                                (cadr (should-error (hive-batch-send batch '(:decision "Deny" :selected ["Deny"]))
                                                    :type 'user-error))))
        (hive-test-wait 5 said))
      (should (equal '("Answered 2: Deny (stored for reviewer, tests)") said)))))

;;;; In the minibuffer

(ert-deftest hive-respond-offers-what-is-alike-together ()
  (hive-test-connected
    (dolist (fields (list '(:question "Commit?" :alike "c" :agent "a" :options [(:label "yes") (:label "no")])
                          '(:question "Else?" :alike "e" :agent "x")
                          '(:question "Commit?" :alike "c" :agent "b" :options [(:label "yes") (:label "no")])))
      (hive-test-call 'fake/ask fields))
    (hive-test-wait 5 (= 3 (length (hive-prompts))))
    (let ((asked (hive-test-with-inputs (list "" "yes") (hive-respond))))
      (should (equal '("2 alike, answer all: Commit?" "a: Commit?" "x: Else?" "b: Commit?") (cdr (nth 1 asked))))
      (should (string-prefix-p "Answer 2 questions: Commit? (yes / no" (car (nth 0 asked)))))
    (should (equal '(["yes"] ["yes"]) (mapcar (lambda (answer) (plist-get answer :selected))
                                              (hive-batch-test-stored 2))))))

(ert-deftest hive-batch-words-that-name-an-option-choose-it-where-there-is-one ()
  (should (equal ["no"] (plist-get (hive-batch--fitted (hive-test-prompt :options [(:label "no")]) '(:decision "no"))
                                   :selected)))
  (should (equal '(:decision "no") (hive-batch--fitted (hive-test-prompt) '(:decision "no")))))
