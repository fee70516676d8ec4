;;; hive-amend-test.el --- Correcting an answer  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;; Tags: not-consumed provenance

;;; Code:

(require 'hive-respond)
(require 'hive-doctor)
(require 'hive-outbox-test-help)
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
         (cl-letf (((symbol-function 'y-or-n-p) #'always) ; words of one's own are meant as such
                   ((symbol-function 'read-string)
                    (lambda (prompt &optional initial &rest rest)
                      (if (not (string-prefix-p "Comment" prompt))
                          (apply typed prompt initial rest)
                        (unless comment (ert-fail "asked for a comment"))
                        (funcall comment (or initial ""))))))
           ,@body)))))

(defun hive-amend-test-first ()
  "Return the first line that completion offers for correction."
  (hive-respond--amend-line (car (cl-remove-if-not #'hive-respond--amend-mine-p (hive-prompts-settled)))))

(defmacro hive-amend-test-said (pattern)
  "Wait until a line that matches PATTERN is queued or was shown."
  `(hive-test-wait 5 (cl-find-if (lambda (line) (string-match-p ,pattern line))
                                 (cons (or hive-notify--said "") hive-notify--lines))))

(ert-deftest hive-amend-another-answer-in-ones-own-words ()
  (hive-test-with-desk nil
    (hive-test-connect)
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
  (hive-test-with-desk nil
    (hive-test-connect)
    (hive-amend-test-answered :options hive-amend-test-options :multi_select t)
    (hive-amend-test-typing nil (list (hive-amend-test-first) "Yes" "Later" "after the release")
      (hive-amend))
    (let ((stored (hive-amend-test-stored 1)))
      (should (equal ["Yes" "Later"] (plist-get stored :selected)))
      (should (equal "after the release" (plist-get stored :comment))))))

(ert-deftest hive-amend-the-comment-of-the-first-answer-is-shown-and-kept ()
  (hive-test-with-desk nil
    (hive-test-connect)
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
  (hive-test-with-desk nil
    (hive-test-connect)
    (hive-amend-test-answered :options hive-amend-test-options :comment "mind the dog")
    (hive-amend-test-typing (lambda (_) " ") (list (hive-amend-test-first) "Yes") (hive-amend))
    (should-not (plist-member (hive-amend-test-stored 1) :comment))))

(ert-deftest hive-amend-old-comment-and-new-words-stand-together ()
  (hive-test-with-desk nil
    (hive-test-connect)
    (hive-amend-test-answered :options hive-amend-test-options :multi_select t :comment "mind the dog")
    (hive-amend-test-typing #'identity (list (hive-amend-test-first) "Yes" "and the cat") (hive-amend))
    (should (equal "mind the dog\nand the cat" (plist-get (hive-amend-test-stored 1) :comment)))))

(ert-deftest hive-amend-a-comment-on-request ()
  (hive-test-with-desk nil
    (hive-test-connect)
    (hive-amend-test-answered)
    (hive-amend-test-typing (lambda (initial) (concat initial "why not"))
        (list (hive-amend-test-first) "yes")
      (hive-amend t))
    (should (equal "why not" (plist-get (hive-amend-test-stored 1) :comment)))))

(ert-deftest hive-amend-a-late-answer-too ()
  (hive-test-with-desk nil
    (hive-test-connect)
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
  (hive-test-with-desk nil
    (hive-test-connect)
    (hive-amend-test-answered :by "Bob")
    (hive-amend-test-answered :status "expired" :by nil :decision nil
                              :late_response '(:decision "No" :by "Bob"))
    (hive-amend-test-answered :status "cancelled" :decision nil)
    (should-error (hive-test-with-inputs nil (hive-amend)) :type 'user-error)))

(ert-deftest hive-amend-two-answers-that-look-alike-are-told-apart ()
  (hive-test-with-desk nil
    (hive-test-connect)
    (let ((older (hive-amend-test-answered)))
      (hive-amend-test-answered)
      (hive-amend-test-typing nil (list (concat (hive-amend-test-first) " <2>") "Yes") (hive-amend))
      (should (equal older (plist-get (hive-amend-test-stored 1) :ask_id))))))

(ert-deftest hive-amend-nothing-said-corrects-nothing ()
  (hive-test-with-desk nil
    (hive-test-connect)
    (hive-amend-test-answered)
    (should-error (hive-amend-test-typing nil (list (hive-amend-test-first) " ") (hive-amend))
                  :type 'user-error)
    (should-not (hive-outbox-entries 'pending))))

(ert-deftest hive-amend-what-was-handed-is-refused-before-anything-is-typed ()
  (hive-test-with-desk nil
    (hive-test-connect)
    (hive-amend-test-answered :handed_at "2026-01-01T00:00:00.000Z")
    (should (string-match-p "already delivered" (hive-amend-test-first)))
    (should-error (hive-amend-test-typing nil (list (hive-amend-test-first)) (hive-amend))
                  :type 'user-error)))

;;;; Through the outbox

(ert-deftest hive-amend-is-on-the-disk-before-a-word-is-said-and-survives-the-sidecar ()
  (hive-test-with-desk nil
    (hive-test-connect)
    (hive-amend-test-answered :comment "mind the dog")
    (hive-test-call 'fake/plan '(:method "prompt/amend" :outcomes ["die"]))
    (setq hive-rpc--delay 0.1)
    (let ((real (symbol-function 'message)) (on-disk nil))
      (cl-letf (((symbol-function 'message)
                 (lambda (format &rest args)
                   (when (member "Correction queued" args)
                     (setq on-disk (hive-journal-read (hive-journal-file))))
                   (apply real format args))))
        (hive-amend-test-typing #'identity (list (hive-amend-test-first) "Yes") (hive-amend)))
      (should (equal "prompt/amend" (plist-get (car on-disk) :method))))
    (hive-test-wait 10 (hive-amend-test-amendments))
    (should (equal "mind the dog" (plist-get (hive-amend-test-stored 1) :comment)))))

(ert-deftest hive-amend-that-came-too-late-keeps-every-word-and-tells ()
  (hive-test-with-desk nil
    (hive-test-connect)
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
        (should (equal "prompt_not_amendable" (hive-entry-code entry)))
        (should (equal "with all my words" (plist-get (hive-entry-params entry) :comment))))
      (should (equal "Yes\nwith all my words" (car kill-ring)))
      (hive-amend-test-said "Your answer is unchanged: It was handed")
      (should (cl-find-if (lambda (check)
                            (string-match-p "Yes\nwith all my words" (hive-doctor-check-text check)))
                          (hive-doctor--outbox)))
      (should (hive-outbox-test-files))
      (should-not (hive-amend-test-amendments)))))

(ert-deftest hive-amend-again-while-the-first-correction-is-on-its-way ()
  (hive-test-with-desk nil
    (hive-test-connect)
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

;;; hive-amend-test.el ends here
